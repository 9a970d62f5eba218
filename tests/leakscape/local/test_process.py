import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from leakscape.local.process import execute


def run(code: str, log: Path, **env: str) -> int:
    return execute([sys.executable, "-c", code], log=log, env=env, tick=lambda: None)


def test_output_and_exit_code_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "step.log"
    code = "import os, sys; print(os.environ['MOOD']); print('é', file=sys.stderr); sys.exit(75)"
    assert run(code, log, MOOD="calm", PYTHONIOENCODING="utf-8") == 75
    assert log.read_text(encoding="utf-8").splitlines() == ["calm", "é"]


def test_a_signal_becomes_its_exit_code(tmp_path: Path) -> None:
    assert run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", tmp_path / "log") == 128 + signal.SIGKILL


def test_input_is_closed(tmp_path: Path) -> None:
    assert run("import sys; sys.exit(len(sys.stdin.read()))", tmp_path / "log") == 0


def test_a_step_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"

    def interrupt() -> None:
        if log.read_bytes():
            raise KeyboardInterrupt

    monkeypatch.setattr("leakscape.local.process._SECONDS_TO_UNWIND", 0.2)
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf'); time.sleep(600)"
    with pytest.raises(KeyboardInterrupt):
        execute([sys.executable, "-c", code], log=log, env={}, tick=interrupt, seconds=0.05)


def test_a_missing_program_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        execute(["no-such-program"], log=tmp_path / "log", env={}, tick=lambda: None)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches a process that is not its child: Linux only")
def test_a_step_ends_with_the_run_that_was_killed(tmp_path: Path) -> None:
    """Left alone, it would write into the folder of the next run."""
    step = (
        "import os, time\nfrom leakscape import lifeline\nlifeline.follow()\n"
        "assert lifeline.VARIABLE not in os.environ\nprint(os.getpid(), flush=True)\ntime.sleep(600)"
    )
    log = str(tmp_path / "log")
    run_of_it = (
        "import sys\nfrom pathlib import Path\nfrom leakscape.local.process import execute\n"
        f"def tick():\n    print(Path({log!r}).read_text(), end='', flush=True)\n"
        f"execute([sys.executable, '-c', {step!r}], log=Path({log!r}), env={{}}, tick=tick, seconds=0.1)"
    )
    with subprocess.Popen([sys.executable, "-c", run_of_it], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    try:
        assert select.select([watched], [], [], 60)[0] == [watched]
    finally:
        os.close(watched)
