import itertools

import pytest

from leakscape import progress


def test_items_pass_through_and_the_end_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress.track("abc", total=3, what="scoring")) == ["a", "b", "c"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("scoring: 3 of 3 done in ")


def test_a_line_comes_each_fifteen_seconds(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # One reading at the start, one an item, one at the end: 10 s apart, so that every second item is due.
    clock = itertools.count(0.0, 10.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    list(progress.track(range(5), total=5, what="training"))
    assert capsys.readouterr().err.splitlines() == [
        "training: 2 of 5, 20 s",
        "training: 4 of 5, 40 s",
        "training: 5 of 5 done in 60.0 s",
    ]


def test_no_items_are_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress.track([], total=0, what="scoring")) == []
    assert capsys.readouterr().err.startswith("scoring: 0 of 0 done in ")


def test_an_abandoned_track_stops(capsys: pytest.CaptureFixture[str]) -> None:
    assert next(iter(progress.track(itertools.count(), total=9, what="scoring"))) == 0
    assert capsys.readouterr().err == ""


def test_without_stderr_nothing_goes_to_stdout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`2>&-` leaves Python without sys.stderr, and print would take stdout, which may be JSON."""
    monkeypatch.setattr("sys.stderr", None)
    progress.say("a line")
    assert list(progress.track("abc", total=3, what="scoring")) == ["a", "b", "c"]
    assert capsys.readouterr().out == ""
