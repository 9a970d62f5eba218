"""The ledger: every answer that was had, kept the moment it came, so that nothing is paid for twice.

A ledger is append-only. A line that a kill cut off is dropped on reading, and its request is asked again. Ledgers
lie in a folder or under an S3 prefix, one a job: the job's digest names it, so that settings never mix.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from leakscape.errors import InputError
from leakscape.rewriting.acceptance import Outcome
from leakscape.storage import Place, TakenError, is_s3, join, open_place
from leakscape.storage.lease import SECONDS as LEASE_SECONDS
from leakscape.storage.lease import Lease
from leakscape.typed_json import dump_json, read_row

_READERS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One answer.

    Args:
        request: the request's id.
        attempt: counts from 1.
        outcome: what the answer was worth.
        text: the answer if it was accepted, else ''.
        reason: for a failure, its kind.
        tokens_in, tokens_out: as the backend counted them.
        seconds: how long it took.
        cost: what it cost, in the currency of the prices given.
    """

    request: str
    attempt: int
    outcome: Outcome
    text: str
    reason: str
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float


class Ledger(Protocol):
    """Where entries are kept."""

    def entries(self) -> Iterator[Entry]:
        """All entries kept so far, in the order of their coming."""
        ...

    def append(self, entries: Iterable[Entry]) -> None:
        """Keep entries; they outlive a kill once this returns."""
        ...

    def close(self) -> None:
        """Let go of the ledger."""
        ...


class MemoryLedger:
    """A ledger that ends with the process: for jobs that need no resuming."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def entries(self) -> Iterator[Entry]:
        """See `Ledger`."""
        return iter(self._entries)

    def append(self, entries: Iterable[Entry]) -> None:
        """See `Ledger`."""
        self._entries.extend(entries)

    def close(self) -> None:
        """See `Ledger`."""


class FileLedger:
    """A ledger in one JSON Lines file, locked for as long as it is open.

    Raises:
        InputError: another process holds the ledger, or it can't be written.
    """

    def __init__(self, path: Path) -> None:
        from filelock import FileLock, Timeout

        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._lock = FileLock(f"{path}.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(f"{path} is in use by another run of the same job; wait for it to end.") from None
        self._drop_torn_line()

    def entries(self) -> Iterator[Entry]:
        """See `Ledger`."""
        if not self._path.exists():
            return
        with self._path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                yield read_row(line, Entry, where=f"{self._path}, line {number}")

    def append(self, entries: Iterable[Entry]) -> None:
        """See `Ledger`."""
        lines = "".join(_line(entry) for entry in entries)
        with self._path.open("ab") as stream:
            stream.write(lines.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())

    def close(self) -> None:
        """See `Ledger`."""
        self._lock.release()

    def _drop_torn_line(self) -> None:
        if not self._path.exists():
            return
        with self._path.open("rb+") as stream:
            content = stream.read()
            kept = content.rfind(b"\n") + 1
            if kept != len(content):
                stream.truncate(kept)


class S3Ledger:
    """A ledger of numbered objects in a place: one object an append, written once, never changed.

    A lease keeps a second run of the same job away. Should one come all the same, the numbers decide: a run begins by
    taking the next one, and whoever held the lease before finds its own next number taken.

    Args:
        place: holds nothing else.
        seconds: how long a run may be silent before another takes over.

    Raises:
        InputError: another run of the same job is at work; from `append`, it took over.
    """

    def __init__(self, place: Place, *, seconds: float | None = None) -> None:
        self._place = place
        self._lease = Lease(place, seconds=LEASE_SECONDS if seconds is None else seconds)
        try:
            self._next = self._claim()
        except BaseException:
            self._lease.release()
            raise

    def entries(self) -> Iterator[Entry]:
        """See `Ledger`. Several objects are read at once."""
        with ThreadPoolExecutor(_READERS) as pool:
            for name, kept in zip(names := self._names(), pool.map(self._place.read, names), strict=True):
                for number, line in enumerate(kept.content.splitlines(), start=1):
                    yield read_row(line, Entry, where=f"{self._place}/{name}, line {number}")

    def append(self, entries: Iterable[Entry]) -> None:
        """See `Ledger`."""
        self._lease.check()
        name = _part(self._next)
        try:
            self._place.create(name, "".join(_line(entry) for entry in entries).encode("utf-8"))
        except TakenError:
            raise InputError(f"{self._place}/{name} was written by another run of the same job.") from None
        self._next += 1

    def close(self) -> None:
        """See `Ledger`."""
        self._lease.release()
        self._place.__exit__(None, None, None)

    def _claim(self) -> int:
        """Write an empty object of the next number, and give the number after it."""
        while True:
            names = self._names()
            number = 1 + (int(names[-1].removeprefix("part-").removesuffix(".jsonl")) if names else 0)
            with contextlib.suppress(TakenError):
                self._place.create(_part(number), b"")
                return number + 1

    def _names(self) -> list[str]:
        return self._place.names("part-")


def open_ledger(place: str, job: str) -> Ledger:
    """The ledger of a job.

    Args:
        place: a folder, an `s3://bucket/prefix`, or '' for one that ends with the process.
        job: the digest of everything that determines the answers; names the ledger.

    Raises:
        InputError: the ledger is in use, or the place refuses us.
        TransientError: the service stays away.
    """
    if not place:
        return MemoryLedger()
    if is_s3(place):
        return S3Ledger(open_place(join(place, job)))
    return FileLedger(Path(place) / f"{job}.jsonl")


def _line(entry: Entry) -> str:
    return dump_json(asdict(entry)) + "\n"


def _part(number: int) -> str:
    return f"part-{number:08d}.jsonl"
