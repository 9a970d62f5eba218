"""A whole run: kfp walks the pipeline, every step is taken from the store or run as a subprocess."""

import contextlib
import fcntl
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import components
from leakscape import arguments, executor
from leakscape.contract import spec
from leakscape.errors import EXIT_DONE, EXIT_FAULT, EXIT_INTERRUPTED, InputError, LeakscapeError, TransientError
from leakscape.local.kfp_runner import task_handler
from leakscape.local.process import execute
from leakscape.local.sources import forget
from leakscape.local.steps import State, Step, steps_of
from leakscape.local.store import Store, key_of
from leakscape.local.view import View, view
from leakscape.progress import say

PROGRAM = (sys.executable, "-P", "-m", "leakscape")  # -P: a folder named `components` where the user stands is not ours
_LAST_LINES = 20
_MARKER = ".leakscape"


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Args:
        steps: in the order of the run, with their states, seconds, folders and logs.
        exit_code: 0, or that of the step that failed.
    """

    steps: tuple[Step, ...]
    exit_code: int

    @property
    def failed(self) -> Step | None:
        """The step that failed, if one did."""
        return next((step for step in self.steps if step.state is State.FAILED), None)

    def artifact(self, component: str, output: str) -> Path:
        """Where the last step of a component put an output.

        Raises:
            KeyError: no step of that component finished.
        """
        folders = [step.folder for step in self.steps if step.component == component and step.state.finished]
        if not folders:
            raise KeyError(f"no step of {component} finished")
        return folders[-1] / output


def run(
    pipeline: Callable[..., Any],
    *,
    out: Path,
    store: Path,
    arguments: Mapping[str, Any] | None = None,
    program: Sequence[str] = PROGRAM,
) -> Outcome:
    """Run a KFP pipeline on this machine.

    `out/artifacts/STEP/OUTPUT` takes the artifacts and `out/logs/STEP.log` what each step wrote; both are emptied
    first. Steps found in `store` are not run again. When a step fails, its last lines are shown and nothing after it
    runs. Ctrl-C and SIGTERM stop the running step with everything it started; what was finished is kept.

    Args:
        pipeline: what `dsl.pipeline` made; the same that compiles for Kubeflow.
        out: the folder of the run.
        store: the folder of finished steps; audits may share it, also at the same time.
        arguments: of the pipeline.
        program: what stands for `leakscape` at the head of each step's command line.

    Raises:
        InputError: another run uses `out`, or it holds folders that no run has made.
        KeyboardInterrupt: Ctrl-C was pressed.
        SystemExit: SIGTERM (143) or SIGHUP (129) arrived.
    """
    out, store = out.resolve(), store.resolve()
    with _owned(out), _stop_on_signals():
        steps = steps_of(pipeline.pipeline_spec, out=out)  # type: ignore[attr-defined]
        with view(steps) as shown:
            forget()
            kept = Store(store)
            kept.sweep()
            runner = _Runner(steps, kept, shown, program)
            exit_code = _walk(pipeline, runner, out, arguments or {})
    outcome = Outcome(tuple(steps), exit_code)
    if outcome.failed:
        _show_failure(outcome.failed)
    return outcome


def _walk(pipeline: Callable[..., Any], runner: "_Runner", out: Path, given: Mapping[str, Any]) -> int:
    folders = {step.task: step.folder for step in runner.steps.values()}
    try:
        with task_handler(runner.execute, folders=folders, root=out / "artifacts"):
            pipeline(**given)
    except RuntimeError:
        failed = [step.exit_code for step in runner.steps.values() if step.state is State.FAILED]
        if not failed:
            raise
        return failed[0] or EXIT_FAULT
    return EXIT_DONE


class _Runner:
    """Runs one step at a time, or takes it from the store."""

    def __init__(self, steps: Sequence[Step], store: Store, shown: View, program: Sequence[str]) -> None:
        self.steps = {step.folder.name: step for step in steps}
        self._store = store
        self._view = shown
        self._program = program
        self._contracts = components.contracts()
        for step in steps:
            contract = self._contracts.get(step.component)
            step.what = spec(contract).summary if contract else ""

    def execute(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> bool:
        step = self.steps[name]
        if step.exit_code not in (EXIT_DONE, TransientError.exit_code):
            return False  # kfp tries again whatever the exit code was; this one says that it would be in vain
        step.state, step.started = State.RUNNING, time.monotonic()
        step.log.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(step.folder, ignore_errors=True)
        step.folder.mkdir(parents=True)
        try:
            self._take(step, list(command), env)
        except LeakscapeError as error:
            with step.log.open("a", encoding="utf-8") as stream:
                stream.write(f"leakscape {step.component}: {error}\n")
            step.exit_code = error.exit_code
        except BaseException:
            step.seconds, step.state, step.exit_code = step.elapsed, State.FAILED, EXIT_INTERRUPTED
            raise
        if step.state is State.RUNNING:
            step.seconds = step.seconds or step.elapsed
            step.state = State.FAILED if step.exit_code else State.DONE
        self._view.changed(step)
        return step.state.finished

    def _take(self, step: Step, command: list[str], env: Mapping[str, str]) -> None:
        step.exit_code = EXIT_DONE
        contract, given = arguments.read(self._contracts[step.component], command[2:])
        outputs = {field.name: getattr(contract, field.name) for field in spec(contract).outputs}
        key = key_of(contract)
        kept = self._store.fetch(key, outputs)
        if kept is not None:
            executor.write_executor_output(contract, executor.read_executor_input(given))
            step.seconds, step.state = kept, State.REUSED
            return
        self._view.changed(step)
        step.exit_code = execute(
            [*self._program, *command[1:]], log=step.log, env=env, tick=lambda: self._view.tick(step)
        )
        step.seconds = step.elapsed
        if step.exit_code == EXIT_DONE:
            self._store.keep(key, outputs, component=step.component, seconds=step.seconds)


def _show_failure(step: Step) -> None:
    say(f"{step.title} failed with exit code {step.exit_code}. Its last lines:")
    for line in step.last_lines(_LAST_LINES):
        say(f"  {line}")
    say(f"All of them: {step.log}")


@contextlib.contextmanager
def _owned(out: Path) -> Iterator[None]:
    """Hold a run's folder for this process alone, with the artifacts and logs of the run before removed.

    Raises:
        InputError: another run holds it, or it has `artifacts` or `logs` that no run has made.
    """
    out.mkdir(parents=True, exist_ok=True)
    inside = [out / "artifacts", out / "logs"]
    if not (out / _MARKER).exists() and any(path.exists() for path in inside):
        raise InputError(f"{out} holds artifacts or logs that no run of ours has made; choose another folder.")
    with (out / _MARKER).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"Another run is at work in {out}; wait for it or choose another folder.") from None
        for path in inside:
            shutil.rmtree(path, ignore_errors=True)
        yield


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[None]:
    """Unwind on SIGTERM and SIGHUP as on Ctrl-C, so that the running step ends too."""

    def stop(number: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
