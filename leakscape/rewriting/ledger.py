"""The ledger: every answer that was had, kept the moment it came, so that nothing is paid for twice.

A ledger is append-only. A line that a kill cut off is dropped on reading, and its request is asked again. Ledgers
lie in a folder or under an S3 prefix, one a job: the job's digest names it, so that settings never mix.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from leakscape.errors import InputError
from leakscape.rewriting.acceptance import Outcome
from leakscape.typed_json import dump_json, read_row


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
    """A ledger of numbered objects under an S3 prefix: one object an append, written once, never changed.

    Args:
        client: a boto3 S3 client.
        bucket, prefix: where the objects lie.

    Raises:
        InputError: from `append`, when another run of the same job writes too.
    """

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:  # noqa: ANN401  boto3 makes its classes at run time
        self._client, self._bucket, self._prefix = client, bucket, prefix.strip("/")
        self._next = 1 + max((int(key.rpartition("-")[2].removesuffix(".jsonl")) for key in self._keys()), default=0)

    def entries(self) -> Iterator[Entry]:
        """See `Ledger`."""
        for key in self._keys():
            body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
            for number, line in enumerate(body.splitlines(), start=1):
                yield read_row(line, Entry, where=f"s3://{self._bucket}/{key}, line {number}")

    def append(self, entries: Iterable[Entry]) -> None:
        """See `Ledger`."""
        from botocore.exceptions import ClientError

        body = "".join(_line(entry) for entry in entries).encode("utf-8")
        key = f"{self._prefix}/part-{self._next:08d}.jsonl"
        try:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, IfNoneMatch="*")
        except ClientError as error:
            if error.response["Error"]["Code"] in ("PreconditionFailed", "ConditionalRequestConflict"):
                raise InputError(f"s3://{self._bucket}/{key} was written by another run of the same job.") from None
            raise
        self._next += 1

    def close(self) -> None:
        """See `Ledger`."""

    def _keys(self) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=f"{self._prefix}/")
        return sorted(item["Key"] for page in pages for item in page.get("Contents", []))


def open_ledger(place: str, job: str) -> Ledger:
    """The ledger of a job.

    Args:
        place: a folder, an `s3://bucket/prefix`, or '' for one that ends with the process.
        job: the digest of everything that determines the answers; names the ledger.

    Raises:
        InputError: the ledger is in use.
    """
    if not place:
        return MemoryLedger()
    if place.startswith("s3://"):
        import boto3

        bucket, _, prefix = place.removeprefix("s3://").partition("/")
        return S3Ledger(boto3.client("s3"), bucket, f"{prefix}/{job}" if prefix else job)
    return FileLedger(Path(place) / f"{job}.jsonl")


def _line(entry: Entry) -> str:
    return dump_json(asdict(entry)) + "\n"
