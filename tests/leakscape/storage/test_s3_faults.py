"""An S3 prefix as a place, against a real server with faults in front of it."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from s3_faults import Proxy, Status, proxied
from s3_files import digest, large
from s3_server import S3Server

from leakscape.errors import TransientError
from leakscape.storage import TakenError, open_place
from leakscape.storage.s3 import S3Place
from leakscape.storage.s3_client import S3Settings

pytestmark = pytest.mark.integration


@pytest.fixture
def proxy(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Faults in front of the server; what is opened from the environment meets them, with few and quick retries."""
    with proxied(s3.endpoint) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)
        yield proxy


def test_a_connection_cut_within_a_part_is_made_good(s3: S3Server, proxy: Proxy, tmp_path: Path) -> None:
    file, place = large(tmp_path), open_place(s3.place())
    proxy.order("PUT", "cut request", match="partNumber=2", times=2)
    place.upload("weights", file)
    place.download("weights", tmp_path / "again")
    assert digest(tmp_path / "again") == digest(file)
    assert sum("partNumber=2" in path for _, path in proxy.requests) == 3


def test_an_upload_that_fails_for_good_takes_its_parts_with_it(
    s3: S3Server, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    text = s3.place()
    proxy.order("PUT", "cut request", match="partNumber=3", times=math.inf)
    with pytest.raises(TransientError, match="hangs up"):
        open_place(text).upload("weights", large(tmp_path))
    assert s3.keys(text) == []
    assert not s3.client().list_multipart_uploads(Bucket=s3.bucket).get("Uploads")


def test_a_storm_of_slow_down_passes(s3: S3Server, proxy: Proxy) -> None:
    place = open_place(s3.place())
    proxy.order("", Status(503), times=6)
    place.create("a", b"1")
    assert place.read("a").content == b"1"
    assert len(proxy.requests) == 8


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Status(503), "SlowDown, 503"),
        (Status(500, "InternalError"), "InternalError, 500"),
        (Status(429, "TooManyRequests"), "TooManyRequests"),
        ("cut request", "hangs up"),
        ("lost answer", "hangs up"),
    ],
)
@pytest.mark.parametrize("attempts", [1, 3])
def test_a_service_that_stays_away_is_transient(  # noqa: PLR0917  # one row a fault
    s3: S3Server, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, fault: Status, words: str, attempts: int
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", str(attempts))
    text = s3.place("busy")
    proxy.order("", fault, times=math.inf)
    with pytest.raises(TransientError, match=words) as met:
        open_place(text).names()
    assert text in str(met.value)
    assert met.value.exit_code == 75
    assert len(proxy.requests) == attempts


def test_no_answer_and_no_service_are_transient(s3: S3Server, proxy: Proxy) -> None:
    proxy.order("", "hang", times=math.inf)
    hurried = S3Settings(region="us-east-1", path_style=True, read_timeout=0.05, attempts=2)
    with pytest.raises(TransientError, match="ReadTimeoutError"):
        S3Place(s3.bucket, "x", hurried).names()
    assert len(proxy.requests) == 2
    proxy.server_close()
    proxy.shutdown()
    with pytest.raises(TransientError, match=r"EndpointConnectionError.*AWS_ENDPOINT_URL"):
        S3Place(s3.bucket, "x", hurried).names()


def test_retries_end_with_their_time(s3: S3Server, proxy: Proxy) -> None:
    proxy.order("", Status(503), times=math.inf)
    with pytest.raises(TransientError, match="not answered a request well for 0 seconds"):
        S3Place(s3.bucket, "x", S3Settings(region="us-east-1", path_style=True, attempts=99, seconds=0.0)).names()
    assert len(proxy.requests) == 1


def test_a_create_whose_answer_was_lost_knows_its_own_object(s3: S3Server, proxy: Proxy) -> None:
    place = open_place(s3.place())
    proxy.order("PUT", "lost answer")
    tag = place.create("a", b"mine")
    assert place.read("a").tag == tag
    proxy.order("PUT", "lost answer")
    assert place.replace("a", b"mine too", tag=tag) == place.read("a").tag
    proxy.order("PUT", Status(503))
    with pytest.raises(TakenError):
        place.create("a", b"another's")


@pytest.mark.parametrize("times", [1, 4])
def test_a_body_that_breaks_off_is_read_again(s3: S3Server, proxy: Proxy, times: int) -> None:
    place = open_place(s3.place())
    content = os.urandom(100_000)
    place.create("a", content)
    proxy.order("GET", "cut answer", times=times)
    assert place.read("a").content == content


def test_a_body_that_always_breaks_off_is_transient(s3: S3Server, proxy: Proxy, tmp_path: Path) -> None:
    place = open_place(s3.place())
    place.create("a", os.urandom(100_000))
    proxy.order("GET", "cut answer", times=math.inf)
    with pytest.raises(TransientError):
        place.read("a")
    with pytest.raises(TransientError):
        place.download("a", tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_breaks_off_is_made_good(s3: S3Server, proxy: Proxy, tmp_path: Path) -> None:
    file, place = large(tmp_path), open_place(s3.place())
    place.upload("weights", file)
    proxy.order("GET", "cut answer", times=2)
    place.download("weights", tmp_path / "again")
    assert digest(tmp_path / "again") == digest(file)


WRITER = """
import sys
from pathlib import Path
from leakscape.storage import open_place
open_place(sys.argv[1]).upload("weights", Path(sys.argv[2]))
"""


def test_a_writer_killed_between_parts_leaves_nothing_seen_and_the_next_one_sweeps(
    s3: S3Server, proxy: Proxy, tmp_path: Path
) -> None:
    file, text = large(tmp_path), s3.place()
    proxy.order("PUT", "hang", match="partNumber=3")
    command = [sys.executable, "-c", WRITER, text, str(file)]
    with subprocess.Popen(command, env=os.environ | s3.environment(proxy.endpoint)) as writer:
        while not s3.client().list_multipart_uploads(Bucket=s3.bucket).get("Uploads"):
            assert writer.poll() is None
        writer.send_signal(signal.SIGKILL)
    proxy.released.set()
    place = open_place(text)
    assert place.names() == []
    place.sweep()
    assert not s3.client().list_multipart_uploads(Bucket=s3.bucket).get("Uploads")
    place.upload("weights", file)
    place.download("weights", tmp_path / "again")
    assert digest(tmp_path / "again") == digest(file)
