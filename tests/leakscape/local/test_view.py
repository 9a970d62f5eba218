import io
from pathlib import Path

import pytest
from rich.console import Console

from leakscape.local import view as views
from leakscape.local.steps import State, Step


def make(number: int, state: State, tmp_path: Path) -> Step:
    step = Step(f"t-{number}", f"tiny · [b] {number}", "toy", tmp_path, tmp_path / f"{number}.log", what="Add up.")
    step.state, step.seconds = state, 2.0
    return step


def drawn(renderable: object, height: int = 24, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_table_shows_state_title_seconds_and_words(tmp_path: Path) -> None:
    steps = [make(number, state, tmp_path) for number, state in enumerate(State)]
    steps[4].exit_code = 75
    steps[1].log.write_text("training: 3 of 9\n", encoding="utf-8")
    lines = [" ".join(line.split()) for line in drawn(views.table(steps)).splitlines()]
    assert lines[0] == "· tiny · [b] 0 Add up."
    assert lines[1].startswith("▸ tiny · [b] 1 ")
    assert lines[1].endswith(" s training: 3 of 9")
    assert lines[2] == "✓ tiny · [b] 2 2.0 s Add up."
    assert lines[3] == "↺ tiny · [b] 3 reused (its making took 2.0 s)"
    assert lines[4] == "✗ tiny · [b] 4 2.0 s failed with exit code 75 after 2.0 s"


def test_a_narrow_terminal_cuts_the_words_first(tmp_path: Path) -> None:
    step = make(1, State.DONE, tmp_path)
    step.what = "Add up a great many numbers, one after another."
    line = drawn(views.table([step]), width=50).rstrip("\n")
    assert line.startswith("✓  tiny · [b] 1     2.0 s  Add up a ")
    assert line.rstrip().endswith("…")


def test_a_long_plan_is_shown_around_the_step_that_runs(tmp_path: Path) -> None:
    steps = [make(number, State.DONE if number < 50 else State.WAITING, tmp_path) for number in range(100)]
    text = drawn(views.Live(steps, Console(file=io.StringIO(), height=16)))
    assert len(text.splitlines()) == 10
    assert "tiny · [b] 50" in text


def test_away_from_a_terminal_lines_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = make(1, State.WAITING, tmp_path)
    with views.view([step]) as shown:
        step.state = State.RUNNING
        shown.changed(step)
        shown.tick(step)
        step.state = State.DONE
        shown.changed(step)
    assert capsys.readouterr().err.splitlines() == ["[1/1] tiny · [b] 1: Add up.", "[1/1] tiny · [b] 1: done in 2.0 s"]


def test_a_long_step_says_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = make(1, State.DONE, tmp_path)
    step.log.write_text("training: 3 of 9\n", encoding="utf-8")
    now = [100.0]
    monkeypatch.setattr(views.time, "monotonic", lambda: now[0])
    shown = views.Lines([step])
    shown.tick(step)
    now[0] = 131.0
    shown.tick(step)
    shown.tick(step)
    assert capsys.readouterr().err.splitlines() == ["[1/1] tiny · [b] 1: 2 s, training: 3 of 9"]
