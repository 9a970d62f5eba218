import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from leakscape import beside as module
from leakscape.beside import beside

WRITER = """
import sys, time
from pathlib import Path
from leakscape.beside import beside
with beside(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("written")
    print("ready", flush=True)
    time.sleep(600)
"""


def writer(target: Path) -> "subprocess.Popen[str]":
    """A process in the middle of writing."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_what_a_killed_writer_left_is_removed_and_what_a_live_one_makes_is_not(tmp_path: Path) -> None:
    target = tmp_path / "artifact"
    with writer(target) as killed:
        killed.send_signal(signal.SIGKILL)
    with writer(target) as alive:
        assert len(list(tmp_path.glob(".artifact.*"))) == 1  # the living one removed the dead one's
        with beside(target) as folder:
            assert len(list(tmp_path.glob(".artifact.*/content/half"))) == 1
            folder.rename(target)
        assert len(list(tmp_path.glob(".artifact.*"))) == 1
        alive.send_signal(signal.SIGKILL)
    with beside(tmp_path / "other"):
        assert len(list(tmp_path.glob(".artifact.*"))) == 1  # of another place
    with beside(target):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["artifact"]


def test_a_folder_swept_between_making_and_locking_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sweeps hit the gap: one before the lock's file is there, one before it is held."""
    flock, made = module.fcntl.flock, []
    mkdtemp = module.tempfile.mkdtemp

    def make(**kwargs: str) -> str:
        made.append(mkdtemp(**kwargs))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    def lock(stream: int, how: int) -> None:
        if len(made) == 2:
            module.shutil.rmtree(made[1])
        flock(stream, how)

    monkeypatch.setattr(module.tempfile, "mkdtemp", make)
    monkeypatch.setattr(module.fcntl, "flock", lock)
    with beside(tmp_path / "artifact") as folder:
        assert str(folder.parent) == made[2]
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_without_locks_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(os.strerror(95))

    monkeypatch.setattr(module.fcntl, "flock", refuse)
    with beside(tmp_path / "artifact") as first, beside(tmp_path / "artifact") as second:
        assert first.is_dir()
        assert second.is_dir()
