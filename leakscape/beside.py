"""Folders beside a final place, in which something is made whole before it gets its name.

A killed process leaves its folder behind, hidden. The next one that writes at the same place removes it: each folder
holds a lock for as long as its writer lives.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_LOCK = "lock"
_CONTENT = "content"


@contextlib.contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A new folder on the same disk as `target`, to be filled and renamed; whatever is left there is removed.

    Args:
        target: the final place; its parents are made.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{target.name}."
    _sweep(target.parent, prefix)
    with contextlib.ExitStack() as stack:
        folder = _locked_folder(stack, target.parent, prefix)
        (folder / _CONTENT).mkdir()
        yield folder / _CONTENT


def _locked_folder(stack: contextlib.ExitStack, parent: Path, prefix: str) -> Path:
    """A sweeper that comes between the making and the locking takes the folder away; then another one is made."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        lock = folder / _LOCK
        try:
            stream = lock.open("x")
        except FileNotFoundError:
            continue
        with contextlib.suppress(OSError):  # a file system without locks: nothing is swept there either
            fcntl.flock(stream, fcntl.LOCK_EX)
        if not lock.exists():
            stream.close()
            continue
        stack.callback(stream.close)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        return folder


def _sweep(parent: Path, prefix: str) -> None:
    """Remove the folders whose writers are dead."""
    for lock in parent.glob(f"{prefix}*/{_LOCK}"):
        with contextlib.suppress(OSError), lock.open("rb+") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(stream.fileno()).st_nlink:
                shutil.rmtree(lock.parent, ignore_errors=True)
