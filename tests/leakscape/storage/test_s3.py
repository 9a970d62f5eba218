"""An S3 prefix as a place, against a real server and faults in front of it."""

import hashlib
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from s3_faults import Proxy, Status, proxied
from s3_server import S3Server

from leakscape.errors import InputError, TransientError
from leakscape.storage import AbsentError, TakenError, fetch, local_copy, open_place
from leakscape.storage.s3 import S3Place
from leakscape.storage.s3_client import S3Settings

pytestmark = pytest.mark.integration

MANY = 1_001


@pytest.fixture
def proxy(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Faults in front of the server; what is opened from the environment meets them, with few and quick retries."""
    with proxied(s3.endpoint) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)
        yield proxy


def large(tmp_path: Path) -> Path:
    """20 MB in three parts."""
    file = tmp_path / "large"
    file.write_bytes(os.urandom(20 << 20))
    return file


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["a b+c/d e", "Zoë/日本語…", "x%2Fy?z#q&r=s", "quo'te\"<>&", "empty"])
def test_any_name_comes_back(s3: S3Server, name: str) -> None:
    place = open_place(s3.place())
    content = b"" if name == "empty" else name.encode()
    tag = place.create(name, content)
    assert (place.read(name).content, place.read(name).tag) == (content, tag)
    assert place.names() == [name]
    place.remove(name)
    assert place.names() == []
    with pytest.raises(AbsentError, match="does not exist"):
        place.read(name)


def test_lists_go_on_after_a_thousand_names(s3: S3Server) -> None:
    place = open_place(s3.place())
    names = [f"part-{number:05d}" for number in range(MANY)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: place.create(name, b""), names))
    assert place.names() == names
    assert place.names("part-01") == names[1000:]


def test_a_prefix_sees_only_what_lies_below_it(s3: S3Server) -> None:
    text = s3.place()
    open_place(f"{text}-more").create("other", b"")
    s3.client().put_object(Bucket=s3.bucket, Key=f"{text.removeprefix(f's3://{s3.bucket}/')}/", Body=b"")
    assert open_place(f"{text}/").names() == []


def test_of_many_writers_exactly_one_creates_and_exactly_one_replaces(s3: S3Server) -> None:
    text = s3.place()
    barrier = threading.Barrier(8)

    def create(number: int) -> bool:
        place = open_place(text)
        place.names()
        barrier.wait()
        try:
            place.create("lease", str(number).encode())
        except TakenError:
            return False
        return True

    def replace(number: int) -> bool:
        place = open_place(text)
        tag = place.read("lease").tag
        barrier.wait()
        try:
            place.replace("lease", f"again {number}".encode(), tag=tag)
        except TakenError:
            return False
        return True

    for act, words in ((create, ""), (replace, "again ")):
        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(act, range(8)))
        assert won.count(True) == 1
        assert open_place(text).read("lease").content.decode() == f"{words}{won.index(True)}"


def test_what_is_gone_is_not_replaced(s3: S3Server) -> None:
    place = open_place(s3.place())
    tag = place.create("lease", b"1")
    place.remove("lease")
    with pytest.raises(TakenError):
        place.replace("lease", b"2", tag=tag)


def test_large_files_go_in_parts_and_come_back_verified(s3: S3Server, tmp_path: Path) -> None:
    file, place = large(tmp_path), open_place(s3.place())
    place.upload("weights", file)
    place.download("weights", tmp_path / "again", sha256=digest(file))
    assert digest(tmp_path / "again") == digest(file)
    with pytest.raises(InputError, match="is not what was written there"):
        place.download("weights", tmp_path / "other", sha256="0" * 64)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "large"]


def test_the_hash_noted_at_the_upload_finds_changed_bytes(s3: S3Server, tmp_path: Path) -> None:
    text = s3.place()
    (tmp_path / "file").write_bytes(b"first")
    place = open_place(text)
    place.upload("file", tmp_path / "file")
    key = s3.keys(text)[0]
    noted = s3.client().head_object(Bucket=s3.bucket, Key=key)["Metadata"]
    assert noted == {"sha256": digest(tmp_path / "file")}
    s3.client().put_object(Bucket=s3.bucket, Key=key, Body=b"other", Metadata=noted)
    with pytest.raises(InputError, match="is not what was written there"):
        place.download("file", tmp_path / "again")
    with pytest.raises(AbsentError):
        place.download("nothing", tmp_path / "again")


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


def test_everything_below_a_place_is_fetched(s3: S3Server, tmp_path: Path) -> None:
    text = s3.place()
    local = open_place(str(tmp_path / "local"))
    for place in (open_place(text), local):
        place.create("csv/patients.csv", b"Id")
        place.create("note", b"x")
    (tmp_path / "again").mkdir()
    assert fetch(text, tmp_path / "into") == fetch(str(tmp_path / "local"), tmp_path / "again")
    assert (tmp_path / "into" / "csv" / "patients.csv").read_bytes() == b"Id"


def test_encryption_is_asked_for(s3: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEAKSCAPE_S3_SSE", "AES256")
    text = s3.place()
    place = open_place(text)
    place.create("a", b"1")
    file = large(tmp_path)
    place.upload("b", file)
    heads = [s3.client().head_object(Bucket=s3.bucket, Key=key) for key in s3.keys(text)]
    assert [head.get("ServerSideEncryption") for head in heads] == ["AES256", "AES256"]
    place.download("b", tmp_path / "again")
    assert digest(tmp_path / "again") == digest(file)


def test_a_prefix_or_one_object_is_copied_here(s3: S3Server, tmp_path: Path) -> None:
    text = s3.place("imports")
    with open_place(text) as place:
        place.create("csv/patients.csv", b"Id")
        place.create("synthea.jar", b"jar")
    assert local_copy("/a/path", tmp_path) == Path("/a/path")
    assert (local_copy(f"{text}/csv/", tmp_path) / "patients.csv").read_bytes() == b"Id"
    assert local_copy(f"{text}/synthea.jar", tmp_path).read_bytes() == b"jar"
    with pytest.raises(AbsentError, match="does not exist"):
        local_copy(f"{text}/nothing", tmp_path)


def test_an_empty_file_goes_and_comes(s3: S3Server, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    place = open_place(s3.place())
    place.upload("empty", tmp_path / "empty")
    place.download("empty", tmp_path / "again", sha256=hashlib.sha256(b"").hexdigest())
    assert (tmp_path / "again").read_bytes() == b""
