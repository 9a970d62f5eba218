"""The S3 ledger against a client that keeps objects in memory, with S3's conditional writes."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from leakscape.errors import InputError
from leakscape.rewriting.ledger import Entry, S3Ledger


class Client:
    """What the ledger uses of boto3's S3 client."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, IfNoneMatch: str) -> None:  # noqa: N803  boto3's names
        assert (Bucket, IfNoneMatch) == ("bucket", "*")
        if Key in self.objects:
            raise ClientError({"Error": {"Code": "PreconditionFailed", "Message": "exists"}}, "PutObject")
        self.objects[Key] = Body

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        assert Bucket == "bucket"
        return {"Body": io.BytesIO(self.objects[Key])}

    def get_paginator(self, name: str) -> "Client":
        assert name == "list_objects_v2"
        return self

    def paginate(self, *, Bucket: str, Prefix: str) -> Iterator[dict[str, Any]]:  # noqa: N803
        assert Bucket == "bucket"
        found = [{"Key": key} for key in sorted(self.objects, reverse=True) if key.startswith(Prefix)]
        yield {"Contents": found[:2]}
        yield {"Contents": found[2:]}
        yield {}


def entry(attempt: int) -> Entry:
    return Entry(
        request="train-1|rewrite", attempt=attempt, outcome="accepted", text="Zoë\u2028takes it.", reason="",
        tokens_in=1, tokens_out=2, seconds=0.5, cost=0.25,
    )  # fmt: skip


def test_entries_come_back_in_their_order() -> None:
    client = Client()
    ledger = S3Ledger(client, "bucket", "/ledgers/job/")
    for attempt in range(1, 12):
        ledger.append([entry(attempt)])
    again = S3Ledger(client, "bucket", "ledgers/job")
    assert [kept.attempt for kept in again.entries()] == list(range(1, 12))
    assert next(again.entries()) == entry(1)
    again.append([entry(12)])
    assert max(client.objects) == "ledgers/job/part-00000012.jsonl"


def test_a_second_writer_is_refused_and_nothing_is_overwritten() -> None:
    client = Client()
    first, second = S3Ledger(client, "bucket", "job"), S3Ledger(client, "bucket", "job")
    first.append([entry(1)])
    with pytest.raises(InputError, match="another run of the same job"):
        second.append([entry(2)])
    assert [kept.attempt for kept in first.entries()] == [1]


def test_other_faults_of_the_service_are_not_hidden() -> None:
    class Denied(Client):
        def put_object(self, **_: object) -> None:  # type: ignore[override]
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutObject")

    with pytest.raises(ClientError, match="AccessDenied"):
        S3Ledger(Denied(), "bucket", "job").append([entry(1)])
