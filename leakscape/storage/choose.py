"""From a text to a place: `s3://bucket/prefix`, else a local folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from leakscape.artifacts import hash_file
from leakscape.errors import InputError
from leakscape.storage.folder import FolderPlace

if TYPE_CHECKING:
    from leakscape.storage.place import Place

S3_SCHEME = "s3://"


def is_s3(place: str) -> bool:
    """Whether a text names an S3 place."""
    return place.startswith(S3_SCHEME)


def open_place(place: str) -> Place:
    """The place that a text names; nothing is read or made yet.

    Args:
        place: `s3://bucket/prefix` (settings from the environment: docs/storage.md), else a folder's path.

    Raises:
        InputError: the text is no place, or a setting makes no sense.
        DependencyError: boto3 is not installed.
    """
    if not is_s3(place):
        if "://" in place or not place:
            raise InputError(
                f"{place.partition('://')[0]}:// is no place for storage; give s3://bucket/prefix or a folder."
            )
        return FolderPlace(Path(place))
    from leakscape.storage.s3 import S3Place
    from leakscape.storage.s3_client import settings_from_environment

    bucket, _, prefix = place.removeprefix(S3_SCHEME).partition("/")
    return S3Place(bucket, prefix.strip("/"), settings_from_environment())


def join(place: str, name: str) -> str:
    """A place within a place."""
    return f"{place.rstrip('/')}/{name}"


def fetch(place: str, into: Path) -> str:
    """Copy everything below a place into an empty folder.

    Returns:
        SHA-256 over the names and their bytes.

    Raises:
        InputError: nothing lies there, or it can't be read.
        TransientError: a service stays away.
    """
    source = open_place(place)
    names = source.names()
    if not names:
        raise InputError(f"{place} holds nothing; name the place of the files.")
    digest = hashlib.sha256()
    for name in names:
        file = into / name
        file.parent.mkdir(parents=True, exist_ok=True)
        source.download(name, file)
        digest.update(f"{name}\0{hash_file(file)}\n".encode())
    return digest.hexdigest()


def local_copy(place: str, scratch: Path) -> Path:
    """The files that a text names, on this machine: a local path as it is, an S3 prefix or object as a copy.

    Args:
        place: a path, `s3://bucket/prefix` or `s3://bucket/prefix/object`.
        scratch: an existing folder that takes the copy.

    Raises:
        InputError: nothing lies there, or it can't be read.
        TransientError: the service stays away.
    """
    if not is_s3(place):
        return Path(place)
    above, _, last = place.rstrip("/").rpartition("/")
    into = scratch / (last or "copy")
    with open_place(place) as below:
        one = not below.names()
    if one and is_s3(above):
        with open_place(above) as around:
            around.download(last, into)
    else:
        into.mkdir()
        fetch(place, into)
    return into
