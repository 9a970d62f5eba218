import errno
import os
from pathlib import Path

import pytest

from components.finish.contract import Finish
from components.finish.run import run


def page(tmp_path: Path, **given: object) -> str:
    run(Finish(plan="nightly", outcome=tmp_path / "outcome.md", **given))  # type: ignore[arg-type]
    return (tmp_path / "outcome.md").read_text(encoding="utf-8")


def test_a_run_that_went_well_says_so(tmp_path: Path):
    assert page(tmp_path, status={"state": "SUCCEEDED"}) == "# nightly: succeeded\n\n"


@pytest.mark.parametrize(("status", "word"), [({"state": "FAILED"}, "failed"), ({}, "unknown")])
def test_a_run_that_did_not_says_where_to_look(tmp_path: Path, status: dict[str, str], word: str):
    text = page(tmp_path, status=status)
    assert text.startswith(f"# nightly: {word}\n")
    assert "The first step that failed tells why" in text


def test_what_was_begun_more_than_a_day_ago_is_cleared_away_and_nothing_else(tmp_path: Path):
    place = tmp_path / "place"
    place.mkdir()
    old, new, whole = place / ".partial-old", place / ".partial-new", place / "kept"
    download = place / ".partial-download"
    download.mkdir()
    for path in (download / "content", old, new, whole):
        path.write_text("x", encoding="utf-8")
    for path in (download, old, new, whole):
        os.utime(path, (0, 0))
    new.touch()
    assert "unfinished uploads" in page(tmp_path, status={"state": "FAILED"}, places=[str(place)])
    assert sorted(path.name for path in place.iterdir()) == [".partial-new", "kept"]


def test_a_place_that_can_not_be_swept_fails_nothing(tmp_path: Path):
    assert "gs://bucket: could not be swept" in page(tmp_path, places=["gs://bucket"])


def test_nor_does_one_without_the_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "secret-name")

    monkeypatch.setattr("leakscape.storage.folder.FolderPlace.sweep", refuse)
    assert page(tmp_path, places=["a", "b"]).endswith(
        "- a: could not be swept: Permission denied.\n- b: could not be swept: Permission denied.\n"
    )
