"""The toy pipeline, run by kfp.local in real subprocesses."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import components
from leakscape.errors import InputError
from leakscape.kubeflow import kfp_component
from leakscape.local import Outcome, State, run

HERE = Path(__file__).parent
PROGRAM = (sys.executable, "-P", str(HERE / "toy_program.py"))
IMAGE = "registry.example/base@sha256:0"

Run = Callable[..., Outcome]


def toy_pipeline() -> Callable[..., Any]:
    from kfp import dsl

    contracts = components.contracts()
    source = kfp_component(contracts["toy-source"], image=IMAGE)
    add = kfp_component(contracts["toy-sum"], image=IMAGE, counts={"more": 1})

    @dsl.pipeline(name="toy")
    def pipeline(mode: str = "well", path: str = "", count: int = 4) -> None:
        first = source(count=count, path=path).set_display_name("numbers")
        second = source(count=2).set_display_name("more numbers")
        total = add(numbers=first.outputs["numbers"], more_1=second.outputs["numbers"], mode=mode, note="")
        total.set_display_name("tiny · direct · sum").set_memory_limit("1G")
        if_transient = add(numbers=first.outputs["numbers"], more_1=second.outputs["numbers"], note="--again")
        if_transient.set_display_name("after").after(total)

    return pipeline


@pytest.fixture
def run_toy(toy_components: Path, tmp_path: Path) -> Run:
    assert toy_components.is_dir()

    def runner(out: str = "out", **given: object) -> Outcome:
        return run(toy_pipeline(), out=tmp_path / out, store=tmp_path / "store", arguments=given, program=PROGRAM)

    return runner


def states(outcome: Outcome) -> dict[str, str]:
    return {step.title: step.state.value for step in outcome.steps}


def totals(outcome: Outcome) -> dict[str, object]:
    found: dict[str, object] = json.loads(
        (outcome.artifact("toy-sum", "total") / "total.json").read_text(encoding="utf-8")
    )
    return found


def test_a_run_leaves_artifacts_and_logs_where_people_look(run_toy: Run, tmp_path: Path) -> None:
    outcome = run_toy()
    assert outcome.exit_code == 0
    assert set(states(outcome).values()) == {"done"}
    # 0+1+2+3 and 0+1; a parameter that begins with a dash arrives whole
    assert totals(outcome) == {"total": 7, "note": "--again"}
    page = tmp_path / "out" / "artifacts" / "tiny-direct-sum" / "report"
    assert page.read_text(encoding="utf-8") == "<p>7</p>"
    assert "writing numbers" in (tmp_path / "out" / "logs" / "numbers.log").read_text(encoding="utf-8")


def test_a_repeated_run_runs_nothing(run_toy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_toy()
    before = {step.title: step.seconds for step in first.steps}

    def refuse(*_arguments: object, **_keywords: object) -> int:
        raise AssertionError

    monkeypatch.setattr("leakscape.local.audit.execute", refuse)
    again = run_toy()
    assert set(states(again).values()) == {"reused"}
    assert {step.title: step.seconds for step in again.steps} == before
    assert totals(again)["total"] == 7


def test_another_run_shares_what_is_equal(run_toy: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run_toy()
    other = run_toy(out="other", count=5)
    assert states(other) == {
        "numbers": "done",
        "more numbers": "reused",
        "tiny · direct · sum": "done",
        "after": "done",
    }
    assert totals(other)["total"] == 11  # 0+1+2+3+4 and 0+1
    assert "more numbers: reused (its making took" in capsys.readouterr().err


def test_changed_data_outside_makes_a_step_run_again(run_toy: Run, tmp_path: Path) -> None:
    """kubeflow/pipelines#4857: the same path with other bytes."""
    start = tmp_path / "start.txt"
    start.write_text("0", encoding="utf-8")
    assert totals(run_toy(path=str(start)))["total"] == 7
    start.write_text("10", encoding="utf-8")
    outcome = run_toy(path=str(start))
    assert totals(outcome)["total"] == 47  # 10+11+12+13 and 0+1
    assert states(outcome)["more numbers"] == "reused"


@pytest.mark.parametrize(("mode", "code"), [("input", 2), ("transient", 75), ("bug", 1)])
def test_a_failing_step_ends_the_run_with_its_code_and_last_lines(
    run_toy: Run, capsys: pytest.CaptureFixture[str], mode: str, code: int
) -> None:
    outcome = run_toy(mode=mode)
    assert outcome.exit_code == code
    assert outcome.failed is not None
    assert outcome.failed.title == "tiny · direct · sum"
    assert states(outcome)["after"] == "waiting"
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"tiny · direct · sum failed with exit code {code}. Its last lines:\n  leakscape toy-sum: " in captured.err
    assert f"All of them: {outcome.failed.log}" in captured.err
    assert "Mabsartinib" not in captured.err
    with pytest.raises(KeyError, match="no step of toy-sum finished"):
        outcome.artifact("toy-sum", "total")


@pytest.mark.parametrize(("mode", "attempts"), [("transient", 2), ("input", 1)])
def test_only_what_may_succeed_later_is_tried_again(
    toy_components: Path, tmp_path: Path, mode: str, attempts: int
) -> None:
    from kfp import dsl

    assert toy_components.is_dir()
    contracts = components.contracts()

    @dsl.pipeline(name="toy")
    def pipeline() -> None:
        numbers = kfp_component(contracts["toy-source"], image=IMAGE)().outputs["numbers"]
        total = kfp_component(contracts["toy-sum"], image=IMAGE)(numbers=numbers, mode=mode)
        total.set_retry(num_retries=1, backoff_duration="0s")

    outcome = run(pipeline, out=tmp_path / "out", store=tmp_path / "store", program=PROGRAM)
    assert outcome.failed is not None
    assert len(outcome.failed.last_lines(9)) == attempts


def test_a_wrong_argument_fails_before_anything_starts(run_toy: Run, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = run_toy(count=-1)
    assert outcome.exit_code == 2
    assert "--count must be at least 0, not -1." in capsys.readouterr().err


def test_finished_steps_survive_a_failure(run_toy: Run) -> None:
    run_toy(mode="bug")
    assert states(run_toy()) == {
        "numbers": "reused",
        "more numbers": "reused",
        "tiny · direct · sum": "done",
        "after": "done",
    }


def test_folders_of_others_are_left_alone(run_toy: Run, tmp_path: Path) -> None:
    (tmp_path / "out" / "artifacts").mkdir(parents=True)
    (tmp_path / "out" / "artifacts" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="no run of ours has made"):
        run_toy()
    assert (tmp_path / "out" / "artifacts" / "thesis.txt").read_text(encoding="utf-8") == "mine"


def test_two_runs_in_one_folder_are_refused(run_toy: Run, tmp_path: Path) -> None:
    import fcntl

    (tmp_path / "out").mkdir()
    with (tmp_path / "out" / ".leakscape").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="Another run is at work"):
            run_toy()


@pytest.mark.parametrize(("number", "ended"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_an_interruption_stops_the_step_and_all_it_started(
    run_toy: Run, tmp_path: Path, number: signal.Signals, ended: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "out" / "logs" / "tiny-direct-sum.log"
    grandchild: list[int] = []

    def interrupt() -> None:
        text = log.read_text(encoding="utf-8") if log.is_file() else ""
        if "waiting for " in text and not grandchild:
            grandchild.append(int(text.split("waiting for ")[1]))
            signal.raise_signal(number)

    monkeypatch.setattr("leakscape.local.view.Lines.tick", lambda _view, _step: interrupt())
    # A shell's background job inherits an ignored SIGINT, and Python then leaves it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(ended):
            run_toy(mode="wait")
    finally:
        signal.signal(signal.SIGINT, before)
    assert grandchild
    state = Path(f"/proc/{grandchild[0]}/stat")
    assert not state.exists() or state.read_text(encoding="utf-8").split()[2] == "Z"
    assert not list((tmp_path / "store").glob(".partial-*"))
    assert not (tmp_path / "out" / "artifacts" / "tiny-direct-sum" / "total").exists()


def test_two_audits_at_once_share_a_store(toy_components: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; import components\n"
        "sys.path.insert(0, sys.argv[1]); components.__path__ = [sys.argv[2]]\n"
        "from test_audit import PROGRAM, toy_pipeline; from leakscape.local import run\n"
        "found = run(toy_pipeline(), out=Path(sys.argv[3]), store=Path(sys.argv[4]), program=PROGRAM)\n"
        "sys.exit(found.exit_code)"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(HERE), str(toy_components), str(tmp_path / name), str(tmp_path / "store")],
            env={**os.environ},
        )
        for name in ("one", "two")
    ]
    assert [process.wait() for process in runs] == [0, 0]
    kept = sorted(path.name for path in (tmp_path / "store").iterdir())
    assert len(kept) == 4
    assert not [name for name in kept if name.startswith(".")]


def test_it_runs_outside_the_main_thread(run_toy: Run) -> None:
    found: list[Outcome] = []
    thread = threading.Thread(target=lambda: found.append(run_toy()))
    thread.start()
    thread.join()
    assert [step.state for step in found[0].steps] == [State.DONE] * 4


def test_real_components_run_by_the_program_itself(tmp_path: Path) -> None:
    from kfp import dsl

    contract = components.contracts()["synthea-gen"]

    @dsl.pipeline(name="real")
    def pipeline() -> None:
        kfp_component(contract, image=IMAGE)(train_count=3, held_out_count=2, exemplar_count=1)

    outcome = run(pipeline, out=tmp_path / "out", store=tmp_path / "store")
    assert outcome.exit_code == 0
    rows = (outcome.artifact("synthea-gen", "train") / "records.jsonl").read_text(encoding="utf-8")
    assert rows.count("\n") == 3
