"""An S3 prefix as a place, through boto3."""

import random
import re
import tempfile
import time
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from leakscape.artifacts import hash_file
from leakscape.errors import InputError
from leakscape.storage.place import Kept, TakenError, checked, hidden
from leakscape.storage.s3_client import S3Settings, make_client
from leakscape.storage.s3_errors import code_of, explained

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_SHA256 = "sha256"
_READS = 5
_LONGEST_WAIT = 10.0  # seconds


class S3Place:
    """See `Place`. An object appears whole or not at all; conditional writes decide between two writers.

    Args:
        bucket: its name; it must exist.
        prefix: '' for the whole bucket.
        settings: see there.

    Raises:
        InputError: this is no bucket's name.
    """

    def __init__(self, bucket: str, prefix: str, settings: S3Settings) -> None:
        if not _BUCKET.fullmatch(bucket):
            raise InputError("an S3 place is s3://bucket/prefix; a bucket's name has 3 to 63 of a-z, 0-9, . and -.")
        self._bucket, self._prefix, self._settings = bucket, f"{prefix}/" if prefix else "", settings

    def __str__(self) -> str:
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "_client" in vars(self):
            self._client.close()

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401  boto3 makes its classes at run time
        return make_client(self._settings)

    def names(self, under: str = "") -> list[str]:
        """See `Place`."""
        prefix = self._prefix + under
        with explained(self._bucket, prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
        return sorted(name for key in keys if not hidden(name := key.removeprefix(self._prefix)))

    def read(self, name: str) -> Kept:
        """See `Place`. A body that breaks off is asked for again."""
        key = self._key(name)
        with explained(self._bucket, key):
            for attempt in range(1, _READS + 1):
                answer = self._client.get_object(Bucket=self._bucket, Key=key)
                try:
                    return Kept(content=answer["Body"].read(), tag=answer["ETag"])
                except _broken():
                    if attempt == _READS:
                        raise
                    time.sleep(random.uniform(0, min(0.1 * 4**attempt, _LONGEST_WAIT)))
        raise AssertionError("unreachable")

    def create(self, name: str, content: bytes) -> str:
        """See `Place`."""
        return self._put(name, content, IfNoneMatch="*")

    def replace(self, name: str, content: bytes, *, tag: str) -> str:
        """See `Place`."""
        return self._put(name, content, IfMatch=tag)

    def upload(self, name: str, file: Path) -> None:
        """See `Place`. The hash is noted beside the object; a failed upload takes its parts with it."""
        key = self._key(name)
        noted = {"Metadata": {_SHA256: hash_file(file)}, **self._encryption()}
        with explained(self._bucket, key), file.open("rb") as stream:
            self._client.upload_fileobj(stream, self._bucket, key, ExtraArgs=noted, Config=self._transfer())

    def download(self, name: str, file: Path, *, sha256: str = "") -> None:
        """See `Place`."""
        key = self._key(name)
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=file.parent) as scratch:
            made = Path(scratch) / "content"
            with explained(self._bucket, key):
                head = self._client.head_object(Bucket=self._bucket, Key=key)
                with made.open("wb") as stream:
                    self._client.download_fileobj(self._bucket, key, stream, Config=self._transfer())
            wanted = sha256 or head["Metadata"].get(_SHA256, "")
            if made.stat().st_size != head["ContentLength"] or (wanted and hash_file(made) != wanted):
                raise InputError(f"s3://{self._bucket}/{key} is not what was written there; remove it and run again.")
            made.rename(file)

    def remove(self, *names: str) -> None:
        """See `Place`."""
        for name in names:
            key = self._key(name)
            with explained(self._bucket, key):
                self._client.delete_object(Bucket=self._bucket, Key=key)

    def sweep(self, *, older_than: float = 0.0) -> None:
        """See `Place`. Parts of an upload that was killed lie unseen, and are paid for, until it is aborted."""
        with explained(self._bucket, self._prefix):
            pages = self._client.get_paginator("list_multipart_uploads").paginate(
                Bucket=self._bucket, Prefix=self._prefix
            )
            for upload in [upload for page in pages for upload in page.get("Uploads", [])]:
                if time.time() - upload["Initiated"].timestamp() < older_than:
                    continue
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=upload["Key"], UploadId=upload["UploadId"])

    def _key(self, name: str) -> str:
        return self._prefix + checked(name)

    def _put(self, name: str, content: bytes, **condition: str) -> str:
        """Write on a condition; an attempt whose answer was lost may have met it, and the next one not."""
        from botocore.exceptions import ClientError

        key = self._key(name)
        with explained(self._bucket, key):
            try:
                answer = self._client.put_object(
                    Bucket=self._bucket, Key=key, Body=content, **condition, **self._encryption()
                )
            except ClientError as error:
                tried_again = error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0)
                if code_of(error) == "PreconditionFailed" and tried_again:
                    kept = self.read(name)
                    if kept.content == content:
                        return kept.tag
                if code_of(error) in ("NoSuchKey", "404") and "IfMatch" in condition:
                    raise TakenError(f"s3://{self._bucket}/{key} was removed by somebody else.") from None
                raise
            return str(answer["ETag"])

    def _encryption(self) -> dict[str, str]:
        settings = self._settings
        key = {"SSEKMSKeyId": settings.kms_key} if settings.kms_key else {}
        return {"ServerSideEncryption": settings.encryption, **key} if settings.encryption else {}

    def _transfer(self) -> Any:  # noqa: ANN401
        from boto3.s3.transfer import TransferConfig

        part = self._settings.part
        return TransferConfig(multipart_threshold=part, multipart_chunksize=part, max_concurrency=8)


def _broken() -> tuple[type[Exception], ...]:
    """What a body raises that breaks off."""
    from botocore import exceptions

    return (
        exceptions.HTTPClientError,
        exceptions.ConnectionError,
        exceptions.IncompleteReadError,
        exceptions.FlexibleChecksumError,
    )
