import errno
import json
import logging
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import components
from leakscape.entrypoint import run_component
from leakscape.errors import GateError, IntegrityError, LeakscapeError, PlanError, TransientError

COIN = "Mabsartinib"

Fails = Callable[[BaseException], int]


@pytest.fixture
def fails(toy_components: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fails:
    """Run toy-source with a `run` that raises; gives the exit code."""

    assert toy_components.is_dir()

    def runner(error: BaseException) -> int:
        def run(_contract: object) -> None:
            warnings.warn(COIN, stacklevel=1)
            logging.getLogger("transformers").warning(COIN)
            raise error

        monkeypatch.setattr(components, "load_run", lambda _name: run)
        return run_component("toy-source", ["--numbers", str(tmp_path / "numbers")])

    return runner


@pytest.mark.usefixtures("toy_components")
def test_a_component_runs_and_writes_its_executor_output(tmp_path: Path) -> None:
    numbers, output_file = tmp_path / "deep" / "numbers", tmp_path / "executor_output.json"
    place = {"artifacts": [{"name": "numbers", "uri": "s3://bucket/numbers"}]}
    given = {"outputs": {"artifacts": {"numbers": place}, "outputFile": str(output_file)}}
    argv = ["--numbers", str(numbers), "--count", "4", "--path=", "--executor-input", json.dumps(given)]
    assert run_component("toy-source", argv) == 0
    written = json.loads(output_file.read_text(encoding="utf-8"))["artifacts"]["numbers"]["artifacts"][0]
    assert written["uri"] == "s3://bucket/numbers"
    assert written["metadata"]["numbers"] == 4


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (LeakscapeError("A sentence."), 1, "A sentence."),
        (IntegrityError("Ids differ."), 1, "Ids differ."),
        (PlanError("plan.yaml, line 3: no."), 2, "plan.yaml, line 3: no."),
        (GateError("The gate failed."), 3, "The gate failed."),
        (TransientError("Busy."), 75, "Busy."),
        (KeyboardInterrupt(), 130, "interrupted."),
        (MemoryError(), 1, "the memory ran out"),
        (OSError(errno.ENOSPC, "No space left", "/data/x"), 1, "the disk is full at /data/x"),
        (PermissionError(errno.EACCES, "Permission denied", "/data/x"), 2, "permission denied at /data/x."),
        (
            NotADirectoryError(errno.ENOTDIR, "Not a directory", "/data/x"),
            2,
            "no folder can be made at /data/x: Not a directory.",
        ),
        (ModuleNotFoundError("No module", name="torch.nn"), 2, "toy-source needs torch, which is not installed here"),
        (type("OutOfMemoryError", (RuntimeError,), {})(COIN), 1, "the accelerator's memory ran out"),
    ],
)
def test_errors_become_a_sentence_and_an_exit_code(
    fails: Fails, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, sentence: str
) -> None:
    assert fails(error) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"leakscape toy-source: {sentence}")
    assert captured.err.count("\n") == 1
    assert COIN not in captured.err


@pytest.mark.usefixtures("toy_components")
def test_a_taken_place_is_refused_before_the_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(_contract: object) -> None:
        raise AssertionError

    monkeypatch.setattr(components, "load_run", lambda _name: run)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    assert run_component("toy-source", ["--numbers", str(tmp_path / "taken")]) == 2
    assert "--numbers: " in (told := capsys.readouterr().err)
    assert "taken exists already; nothing is overwritten: choose another place." in told


@pytest.mark.usefixtures("toy_components")
def test_a_file_in_the_way_of_an_output_is_wrong_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert run_component("toy-source", ["--numbers", str(tmp_path / "file" / "numbers")]) == 2
    assert "no folder can be made at " in capsys.readouterr().err


def test_an_unforeseen_error_shows_its_type_and_frames_alone(fails: Fails, capsys: pytest.CaptureFixture[str]) -> None:
    error = ValueError(COIN)
    error.__cause__ = KeyError(COIN)
    assert fails(error) == 1
    told = capsys.readouterr().err
    assert "a fault of ours, ValueError." in told
    assert "which came of KeyError:" in told
    assert f"{__file__}:" in told
    assert COIN not in told


def test_debugging_shows_all(fails: Fails, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAKSCAPE_DEBUG", "1")
    with pytest.warns(UserWarning, match=COIN):
        assert fails(ValueError(COIN)) == 1
    assert f"ValueError: {COIN}" in capsys.readouterr().err


def test_a_broken_pipe_is_no_fault(
    fails: Fails, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "dup2", lambda _source, _target: None)
    assert fails(BrokenPipeError()) == 128 + signal.SIGPIPE
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("toy_components")
def test_help_ends_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_component("toy-sum", ["--help"]) == 0
    assert "Add numbers up." in capsys.readouterr().out


@pytest.mark.usefixtures("toy_components")
def test_an_unknown_component_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_component("toy-div", []) == 2
    assert "There is no component 'toy-div'; there are toy-source, toy-sum." in capsys.readouterr().err


@pytest.mark.usefixtures("toy_components")
def test_sigterm_unwinds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def run(_contract: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(components, "load_run", lambda _name: run)
    assert run_component("toy-source", ["--numbers", str(tmp_path / "numbers")]) == 75
    assert signal.getsignal(signal.SIGTERM) is before


def test_importing_it_loads_no_heavy_library() -> None:
    code = "import leakscape.entrypoint, leakscape.local, leakscape.kubeflow, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"kfp", "torch", "transformers", "scipy", "matplotlib", "vllm"} & set(loaded)
