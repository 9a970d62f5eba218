"""An S3 prefix as a place, against a real server."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from s3_files import digest, large
from s3_server import S3Server

from leakscape.errors import InputError
from leakscape.storage import AbsentError, TakenError, fetch, local_copy, open_place

pytestmark = pytest.mark.integration

MANY = 1_001


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
