"""A local folder as a place."""

import hashlib
import os
from pathlib import Path

import pytest

from leakscape.errors import InputError
from leakscape.storage import AbsentError, TakenError, fetch, is_s3, join, open_place


def test_what_is_created_is_read_and_listed_and_never_overwritten(tmp_path: Path) -> None:
    with open_place(str(tmp_path / "place")) as place:
        assert place.names() == []
        tag = place.create("runs/b", b"first")
        place.create("a", b"")
        with pytest.raises(TakenError, match="another writer was first"):
            place.create("runs/b", b"second")
        assert place.names() == ["a", "runs/b"]
        assert place.names("runs/") == ["runs/b"]
        assert (place.read("runs/b").content, place.read("runs/b").tag) == (b"first", tag)


def test_replacing_needs_the_tag_of_what_lies_there(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    old = place.create("lease", b"1")
    new = place.replace("lease", b"2", tag=old)
    with pytest.raises(TakenError, match="another writer"):
        place.replace("lease", b"3", tag=old)
    assert place.read("lease").content == b"2"
    place.remove("lease", "never-there")
    with pytest.raises(TakenError):
        place.replace("lease", b"3", tag=new)


def test_files_go_and_come_whole(tmp_path: Path) -> None:
    content = os.urandom(3 << 20)
    (tmp_path / "file").write_bytes(content)
    place = open_place(str(tmp_path / "place"))
    place.upload("step-1/weights", tmp_path / "file")
    place.download("step-1/weights", tmp_path / "again", sha256=hashlib.sha256(content).hexdigest())
    assert (tmp_path / "again").read_bytes() == content
    with pytest.raises(InputError, match="has changed since it was written"):
        place.download("step-1/weights", tmp_path / "third", sha256="0" * 64)
    assert not (tmp_path / "third").exists()
    with pytest.raises(AbsentError):
        place.download("nothing", tmp_path / "third")
    place.remove("step-1/weights")
    assert list((tmp_path / "place").iterdir()) == []


def test_half_written_files_are_not_seen_and_are_swept(tmp_path: Path) -> None:
    (tmp_path / ".partial-x").write_bytes(b"half")
    place = open_place(str(tmp_path))
    place.create("a", b"")
    assert place.names() == ["a"]
    place.sweep()
    assert {path.name for path in tmp_path.iterdir()} == {"a"}


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../up", "a//b", "a/", ".hidden", "a/.b", "new\nline"])
def test_a_name_stays_within_its_place(tmp_path: Path, name: str) -> None:
    place = open_place(str(tmp_path))
    for act in (lambda: place.create(name, b""), lambda: place.read(name), lambda: place.remove(name)):
        with pytest.raises(InputError, match="name within a storage place"):
            act()


@pytest.mark.parametrize("place", ["", "gs://bucket/x", "https://host/bucket"])
def test_other_schemes_are_refused(place: str) -> None:
    with pytest.raises(InputError, match="no place for storage"):
        open_place(place)


@pytest.mark.parametrize("place", ["s3://", "s3://UPPER/x", "s3://a/x", "s3://user:word@host/x"])
def test_no_bucket_is_no_s3_place(place: str) -> None:
    with pytest.raises(InputError, match="s3://bucket/prefix") as refused:
        open_place(place)
    assert "word" not in str(refused.value)


def test_everything_below_a_place_is_fetched_with_its_hash(tmp_path: Path) -> None:
    place = open_place(str(tmp_path / "place"))
    place.create("csv/patients.csv", b"Id")
    place.create("note", b"x")
    # By the definition in `fetch`.
    of_x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert hashlib.sha256(b"x").hexdigest() == of_x
    wanted = hashlib.sha256(f"csv/patients.csv\0{hashlib.sha256(b'Id').hexdigest()}\nnote\0{of_x}\n".encode())
    assert fetch(str(tmp_path / "place"), tmp_path / "into") == wanted.hexdigest()
    assert (tmp_path / "into" / "csv" / "patients.csv").read_bytes() == b"Id"
    with pytest.raises(InputError, match="holds nothing"):
        fetch(str(tmp_path / "nowhere"), tmp_path / "other")


def test_places_are_told_apart_and_joined() -> None:
    assert is_s3("s3://bucket/x")
    assert not is_s3("/bucket/x")
    assert join("s3://bucket/x/", "y") == "s3://bucket/x/y"
