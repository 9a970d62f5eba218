"""A hash of data that lies outside the artifacts.

A step is not run again when only the bytes behind its `path` change, since its arguments stay the same. A plan that
pins the hash of its data makes a change an error, and a new hash a new step.
"""

import hashlib
from pathlib import Path

from leakscape.artifacts import hash_file
from leakscape.errors import InputError


def content_hash(path: Path) -> str:
    """SHA-256 over the names (relative, in order) and bytes of the files below a folder, or over one file's bytes.

    Raises:
        InputError: nothing is at `path`, the folder holds no file, or a file can't be read.
    """
    try:
        return hash_file(path) if path.is_file() else _folder_hash(path)
    except OSError as error:  # its own message would name the file, and a bundle's name holds its patient's
        raise InputError(f"{path}, or a file in it, can't be read: {error.strerror}.") from None


def _folder_hash(path: Path) -> str:
    names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    if not names:
        raise InputError(f"{path} does not exist or holds no file; give the place of the data.")
    digest = hashlib.sha256()
    for name in names:
        # A name never holds NUL and a hash has one length, so no two sets of files give the same bytes.
        digest.update(f"{name}\0{hash_file(path / name)}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def verify(path: Path, expected: str) -> str:
    """Hold data against the hash that a plan pins.

    Args:
        path: a file or folder.
        expected: what `content_hash` gave before; '' pins nothing.

    Returns:
        The data's hash.

    Raises:
        InputError: the data's hash is another.
    """
    found = content_hash(path)
    if expected and expected != found:
        raise InputError(
            f"{path} has changed since its content hash was pinned ({expected[:12]} pinned, {found[:12]} now); restore "
            "the data or pin the new hash."
        )
    return found
