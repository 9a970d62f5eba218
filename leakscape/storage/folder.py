"""A local folder as a place."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from leakscape.artifacts import hash_file
from leakscape.errors import InputError
from leakscape.storage.place import AbsentError, Kept, TakenError, checked, hidden

_PARTIAL = ".partial-"


class FolderPlace:
    """See `Place`. Files are written beside, flushed to the disk and then named.

    Args:
        folder: made when something is written.

    Raises:
        InputError: a file lies there.
    """

    def __init__(self, folder: Path) -> None:
        if folder.is_file():
            raise InputError(f"{folder} is a file; name a folder or an s3://bucket/prefix.")
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def names(self, under: str = "") -> list[str]:
        """See `Place`."""
        files = (path.relative_to(self._folder).as_posix() for path in self._folder.rglob("*") if path.is_file())
        return sorted(name for name in files if name.startswith(under) and not hidden(name))

    def read(self, name: str) -> Kept:
        """See `Place`."""
        try:
            content = (self._folder / checked(name)).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            raise AbsentError(f"{self._folder / name} does not exist.") from None
        return Kept(content=content, tag=hashlib.sha256(content).hexdigest())

    def create(self, name: str, content: bytes) -> str:
        """See `Place`. A hard link gives the name: it fails where the name exists."""
        target = self._folder / checked(name)
        with self._beside(target, lambda beside: beside.write_bytes(content)) as made:
            try:
                os.link(made, target)
            except FileExistsError:
                raise TakenError(f"{target} exists already: another writer was first.") from None
        return hashlib.sha256(content).hexdigest()

    def replace(self, name: str, content: bytes, *, tag: str) -> str:
        """See `Place`. Writers of one folder take turns by a lock."""
        target = self._folder / checked(name)
        with self._locked():
            if not target.is_file() or self.read(name).tag != tag:
                raise TakenError(f"{target} has changed since it was read: another writer was first.")
            with self._beside(target, lambda beside: beside.write_bytes(content)) as made:
                made.replace(target)
        return hashlib.sha256(content).hexdigest()

    def upload(self, name: str, file: Path) -> None:
        """See `Place`."""
        target = self._folder / checked(name)
        with self._beside(target, lambda beside: shutil.copyfile(file, beside)) as made:
            made.replace(target)

    def download(self, name: str, file: Path, *, sha256: str = "") -> None:
        """See `Place`."""
        source = self._folder / checked(name)
        if not source.is_file():
            raise AbsentError(f"{source} does not exist.")
        with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=file.parent) as scratch:
            made = Path(scratch) / "content"
            shutil.copyfile(source, made)
            if sha256 and hash_file(made) != sha256:
                raise InputError(f"{source} has changed since it was written; remove it or fetch it again.")
            made.rename(file)

    def remove(self, *names: str) -> None:
        """See `Place`. Folders that become empty go too."""
        for name in names:
            target = self._folder / checked(name)
            target.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                for parent in target.relative_to(self._folder).parents[:-1]:
                    (self._folder / parent).rmdir()

    def sweep(self, *, older_than: float = 0.0) -> None:
        """See `Place`."""
        for left in self._folder.rglob(f"{_PARTIAL}*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime < older_than:
                    continue
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()

    @contextlib.contextmanager
    def _beside(self, target: Path, write: Callable[[Path], object]) -> Iterator[Path]:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=_PARTIAL, dir=target.parent)
        made = Path(name)
        try:
            write(made)
            made.chmod(0o644)  # mkstemp's file is for its owner alone
            os.fsync(descriptor)
            yield made
        finally:
            os.close(descriptor)
            made.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / ".lock").open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield
