"""How processes that train together are watched, on small programs in their place."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from components.lora_train.contract import LoraTrain
from leakscape import arguments
from leakscape.errors import ContractError
from leakscape.training.processes import RankError, arguments_of, how_many, run_ranks
from leakscape.training.world import PeerLost

HEAD = "import os, pathlib, signal, sys, time\nrank = os.environ['LEAKSCAPE_RANK']\nhere = pathlib.Path(sys.argv[1])\n"
WAIT = "while True: time.sleep(60)\n"


def ranks(folder: Path, program: str, size: int = 2) -> None:
    run_ranks([sys.executable, "-c", HEAD + program, str(folder)], size)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_every_rank_runs_once_and_knows_its_place(tmp_path: Path):
    ranks(tmp_path, "(here / rank).write_text(os.environ['LEAKSCAPE_WORLD_SIZE'] + os.environ['OMP_NUM_THREADS'])", 3)
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, (os.cpu_count() or 1) // 3))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys("012", f"3{threads}")


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        ("sys.exit(75)", 75, "process 1 of the training failed with exit code 75"),
        ("sys.exit(2)", 2, "failed with exit code 2"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, "ended by signal 9; if it was 9, the memory"),
    ],
)
def test_one_that_fails_ends_the_others_and_gives_its_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], end: str, code: int, words: str
):
    program = (
        "(here / rank).write_text(str(os.getpid()))\n"
        "while len(list(here.iterdir())) < 2: time.sleep(0.01)\n"
        f"if rank == '1':\n    print('leakscape: the reason.', file=sys.stderr, flush=True)\n    {end}\n" + WAIT
    )
    with pytest.raises(RankError, match=words) as caught:
        ranks(tmp_path, program)
    assert caught.value.exit_code == code
    assert "leakscape: the reason." in capsys.readouterr().err
    assert all(gone(int(path.read_text())) for path in tmp_path.iterdir())


def test_the_reason_is_that_of_the_one_that_failed_by_itself(tmp_path: Path):
    program = (
        f"if rank == '0':\n    (here / 'lost').touch()\n    sys.exit({PeerLost.exit_code})\n"
        "while not (here / 'lost').exists(): time.sleep(0.01)\n"
        "sys.exit(2)\n"
    )
    with pytest.raises(RankError, match=r"process 1 .* exit code 2") as caught:
        ranks(tmp_path, program)
    assert caught.value.exit_code == 2


def test_all_that_lost_each_other_are_a_fault_of_ours(tmp_path: Path):
    with pytest.raises(RankError) as caught:
        ranks(tmp_path, f"sys.exit({PeerLost.exit_code})")
    assert caught.value.exit_code == 1


def test_one_that_does_not_listen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("leakscape.training.processes._SECONDS_TO_UNWIND", 0.2)
    program = (
        "if rank == '0':\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    (here / 'deaf').write_text(str(os.getpid()))\n    while True: time.sleep(60)\n"
        "while not (here / 'deaf').exists(): time.sleep(0.01)\nsys.exit(2)\n"
    )
    with pytest.raises(RankError):
        ranks(tmp_path, program)
    assert gone(int((tmp_path / "deaf").read_text()))


def test_nothing_is_left_when_the_step_itself_is_killed(tmp_path: Path):
    """The ranks hold the end of a pipe whose other end goes with the step: they end, and a reader sees it."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    rank = "import sys, time\nfrom leakscape import lifeline\nlifeline.follow()\nheld = open(sys.argv[1], 'w')\n"
    rank += "held.write('x')\nheld.flush()\n" + WAIT
    step = (
        "import sys\nfrom leakscape.training.processes import run_ranks\n"
        "run_ranks([sys.executable, '-c', sys.argv[1], sys.argv[2]], 2)"
    )
    with subprocess.Popen([sys.executable, "-c", step, rank, str(fifo)]) as process, fifo.open() as reader:
        assert reader.read(1) == "x"
        process.send_signal(signal.SIGKILL)
        assert reader.read() in ("", "x")  # returns once no rank holds the other end


def test_a_contract_survives_its_command_line(tmp_path: Path):
    for name in ("corpus", "canaries"):
        (tmp_path / name).mkdir()
    given = LoraTrain(
        corpus=tmp_path / "corpus",
        canaries=tmp_path / "canaries",
        model="a model",
        learning_rate=3e-5,
        gradient_checkpointing=True,
        checkpoint_dir="-odd=name",
        seed=-4,
        adapter=tmp_path / "adapter",
        log=tmp_path / "log",
    )
    assert arguments.read(LoraTrain, arguments_of(given)) == (given, "")


def test_no_number_is_one_for_each_accelerator(monkeypatch: pytest.MonkeyPatch):
    assert how_many(3, "cpu") == 3
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    assert how_many(0, "auto") == 4
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    assert how_many(0, "auto") == 1
    with pytest.raises(ContractError, match="say how many"):
        how_many(0, "cpu")
