"""One step as a process group of its own: everything it started ends with it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from leakscape import lifeline

_SECONDS_TO_UNWIND = 10.0


def execute(
    command: Sequence[str], *, log: Path, env: Mapping[str, str], tick: Callable[[], None], seconds: float = 1.0
) -> int:
    """Run a command to its end and give its exit code; one that a signal ended gives 128 and the signal's number.

    Whatever interrupts the wait (Ctrl-C, SIGTERM) stops the whole process group first. A step of ours ends as well when
    this process is killed: see `lifeline`.

    Args:
        command: program and arguments.
        log: the file that takes stdout and stderr, appended to.
        env: variables on top of this process's own.
        tick: called every `seconds` while the command runs.
        seconds: between two ticks.

    Raises:
        OSError: the program can't be started.
    """
    with contextlib.ExitStack() as stack:
        of_step, own = os.pipe()
        stack.callback(os.close, own)
        process = _start(command, log, {**env, lifeline.VARIABLE: str(of_step)}, of_step)
        return _wait(process, tick, seconds)


def _start(command: Sequence[str], log: Path, env: Mapping[str, str], of_step: int) -> subprocess.Popen[bytes]:
    try:
        with log.open("ab") as stream:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **env},
                start_new_session=True,
                pass_fds=(of_step,),
            )
    finally:
        os.close(of_step)


def _wait(process: subprocess.Popen[bytes], tick: Callable[[], None], seconds: float) -> int:
    try:
        while True:
            try:
                code = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                tick()
            else:
                return code if code >= 0 else 128 - code
    finally:
        if process.returncode is None:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the group to end, so that half-written folders are removed; then end it."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=_SECONDS_TO_UNWIND)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
