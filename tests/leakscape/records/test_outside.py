import hashlib
from pathlib import Path

import pytest

from leakscape.errors import InputError
from leakscape.records import outside
from leakscape.records.outside import content_hash, verify


def test_the_hash_is_that_of_names_and_bytes(tmp_path: Path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "ä.csv").write_bytes(b"2")
    (tmp_path / "a.csv").write_bytes(b"1")
    one, two = hashlib.sha256(b"1").hexdigest(), hashlib.sha256(b"2").hexdigest()
    assert content_hash(tmp_path) == hashlib.sha256(f"a.csv\0{one}\nb/ä.csv\0{two}\n".encode()).hexdigest()
    assert content_hash(tmp_path / "a.csv") == one


def test_a_new_name_or_byte_changes_it(tmp_path: Path):
    file = tmp_path / "a"
    file.write_bytes(b"1")
    before = content_hash(tmp_path)
    assert verify(tmp_path, "") == verify(tmp_path, before) == before
    file.write_bytes(b"2")
    with pytest.raises(InputError, match="has changed since its content hash was pinned"):
        verify(tmp_path, before)
    file.write_bytes(b"1")
    file.rename(tmp_path / "b")
    assert content_hash(tmp_path) != before


def test_nothing_there_is_refused(tmp_path: Path):
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="does not exist or holds no file"):
            content_hash(path)


def test_a_file_that_cannot_be_read_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Synthea names a bundle's file by its patient."""

    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "Ada1_Lovelace2.json").touch()
    monkeypatch.setattr(outside, "hash_file", refuse)
    with pytest.raises(InputError, match="or a file in it, can't be read: Permission denied") as raised:
        content_hash(tmp_path)
    assert "Lovelace" not in str(raised.value)
