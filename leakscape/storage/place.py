"""What a place offers: named bytes, written whole or not at all, and never over somebody else's."""

import re
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from leakscape.errors import InputError


class TakenError(InputError):
    """Another writer was first: something lies at the name, or it has changed since it was read."""


class AbsentError(InputError):
    """Nothing lies at the name."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What lies at a name.

    Args:
        content: all of its bytes.
        tag: changes when they do; `Place.replace` takes it.
    """

    content: bytes
    tag: str


class Place(Protocol):
    """A folder or an S3 prefix; `str` gives it as it was named.

    Names are relative, their parts separated by `/`; no part begins with a dot. Every method may raise `InputError`
    where access is refused or the place does not exist, and `TransientError` where a service stays away.
    """

    def __enter__(self) -> Self:
        """A place may be used in a `with` block, which closes it."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of connections."""
        ...

    def names(self, under: str = "") -> list[str]:
        """The names that begin with `under`, sorted."""
        ...

    def read(self, name: str) -> Kept:
        """What lies at a name.

        Raises:
            AbsentError: nothing does.
        """
        ...

    def create(self, name: str, content: bytes) -> str:
        """Write where nothing lies yet, and give the tag: of two writers exactly one succeeds.

        Raises:
            TakenError: something lies there.
        """
        ...

    def replace(self, name: str, content: bytes, *, tag: str) -> str:
        """Write over what has still the tag that it was read with, and give the new tag.

        Raises:
            TakenError: it has changed, or is gone.
        """
        ...

    def upload(self, name: str, file: Path) -> None:
        """Copy a file to a name, over whatever lies there; large ones in parts."""
        ...

    def download(self, name: str, file: Path, *, sha256: str = "") -> None:
        """Copy what lies at a name to a file that does not exist yet, and verify its size and hash.

        Args:
            name: of the object.
            file: appears only when it is whole.
            sha256: the hash expected; '' for the one noted when it was uploaded.

        Raises:
            AbsentError: nothing lies there.
            InputError: the bytes are not those that were written.
        """
        ...

    def remove(self, *names: str) -> None:
        """Remove names; one that is not there is no error."""
        ...

    def sweep(self, *, older_than: float = 0.0) -> None:
        """Remove what killed writers left unfinished; only for the one writer of a place.

        Args:
            older_than: spare what was begun within so many seconds: another writer may be at it.
        """
        ...


def checked(name: str) -> str:
    """A name, if it is one.

    Raises:
        InputError: it would lead out of the place, or be hidden in it.
    """
    if not name or any(not part or part.startswith(".") for part in name.split("/")) or re.search(r"[\0-\x1f]", name):
        raise InputError("a name within a storage place is relative, without empty, hidden or control parts.")
    return name


def hidden(name: str) -> bool:
    """Whether a name is not one of ours: a folder's marker, a lock, a half-written file."""
    return any(not part or part.startswith(".") for part in name.split("/"))
