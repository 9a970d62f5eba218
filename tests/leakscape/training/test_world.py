"""Two processes on the CPU (gloo) against one: the same effective batch gives the same run."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import rank_toys
from safetensors.torch import load_file

from leakscape.errors import ContractError, IntegrityError
from leakscape.models.adapters import WEIGHTS
from leakscape.training.loop import LoopSettings, train
from leakscape.training.processes import RankError, run_ranks
from leakscape.training.world import ALONE, World, device_of

# Six records: a step of four makes two pieces, the epoch's last step one, so that the second process idles there.
TOGETHER: dict[str, dict[str, Any]] = {
    "plain": {"architecture": "llama"},
    "accumulated": {"architecture": "llama", "batch_size": 1, "accumulation": 2},
    "sharded": {"architecture": "llama", "sharding": "fsdp"},
    "sharded-experts": {"architecture": "gpt_oss", "sharding": "fsdp", "gradient_checkpointing": True},
    "sharded-hybrid": {"architecture": "qwen3_5", "sharding": "fsdp"},
    "dropout": {"architecture": "llama", "dropout": 0.2},
    "stopped": {"architecture": "llama", "dropout": 0.2, "checkpoints": "kept", "stops_at": 2},
    "resumed": {"architecture": "llama", "dropout": 0.2, "checkpoints": "kept"},
    "lost": {"architecture": "llama", "dies_at": 1},  # and with it both processes, so it stands last
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RankError]:
    """Everything that two processes do here, in one start of them: importing torch takes longest."""
    made = tmp_path_factory.mktemp("ranks")
    (made / "runs.json").write_text(json.dumps([{"name": name, **run} for name, run in TOGETHER.items()]))
    with pytest.raises(RankError) as caught:
        run_ranks([sys.executable, str(Path(rank_toys.__file__)), str(made)], 2)
    return made, caught.value


@pytest.fixture
def folder(ended: tuple[Path, RankError]) -> Path:
    return ended[0]


def alone(folder: Path, name: str, run: dict[str, Any]) -> list[dict[str, Any]]:
    rank_toys.work({"name": name, **run}, ALONE, folder)
    found: list[dict[str, Any]] = json.loads((folder / f"{name}.json").read_text())["steps"]
    return found


@pytest.mark.parametrize("name", ["plain", "accumulated", "sharded", "sharded-experts", "sharded-hybrid"])
def test_two_processes_learn_what_one_does_with_the_same_effective_batch(folder: Path, name: str, tmp_path: Path):
    """huggingface/transformers#34191: the denominator is the effective batch's, wherever its pieces pass."""
    together = json.loads((folder / f"{name}.json").read_text())["steps"]
    one = alone(tmp_path, name, {"architecture": TOGETHER[name]["architecture"], "batch_size": 4})
    assert len(together) == 4  # steps of 4 and 2 records, two epochs
    for step, other in zip(together, one, strict=True):
        assert (step["tokens"], step["epoch"]) == (other["tokens"], other["epoch"])
        assert step["loss"] == pytest.approx(other["loss"], abs=1e-4)
        assert step["gradient_norm"] == pytest.approx(other["gradient_norm"], rel=1e-3)
    first, second = (load_file(path / name / WEIGHTS) for path in (folder, tmp_path))
    assert first.keys() == second.keys()
    # AdamW moves every weight by its rate at first, however small the gradient, so single weights may part.
    assert max(float((first[key] - second[key]).abs().mean()) for key in first) < 1e-4


def test_a_shared_out_base_changes_not_one_bit(folder: Path):
    plain, sharded = ((folder / name / WEIGHTS).read_bytes() for name in ("plain", "sharded"))
    assert plain == sharded


def test_a_stopped_run_of_two_goes_on_to_the_same_bytes(folder: Path):
    told = {name: json.loads((folder / f"{name}.json").read_text()) for name in ("dropout", "stopped", "resumed")}
    assert told["stopped"] == {"killed": True}
    assert told["resumed"] == told["dropout"]
    assert (folder / "resumed" / WEIGHTS).read_bytes() == (folder / "dropout" / WEIGHTS).read_bytes()


def test_another_number_of_processes_does_not_go_on(folder: Path, tmp_path: Path):
    (tmp_path / "kept").symlink_to(folder / "kept")
    rank_toys.work({"name": "one", "architecture": "llama", "dropout": 0.2, "checkpoints": "kept"}, ALONE, tmp_path)
    told = json.loads((tmp_path / "one.json").read_text())
    assert "checkpoints of 2 processes, but 1 would go on" in told["error"]


def test_one_that_dies_within_a_step_ends_all_with_its_code(ended: tuple[Path, RankError]):
    folder, error = ended
    assert str(error) == "process 1 of the training failed with exit code 9."
    assert error.exit_code == 9
    assert not list(folder.glob("lost*"))


def test_pieces_are_dealt_in_turn_and_all_pass_as_often():
    pieces = [[1, 2], [3, 4], [5]]
    assert [World(rank=rank, size=2).share(pieces) for rank in (0, 1)] == [[[1, 2], [5]], [[3, 4], []]]
    assert ALONE.share(pieces) == pieces
    assert World(rank=2, size=3).share([[1]]) == [[]]


def test_one_process_needs_no_meeting():
    assert ALONE.add_up(1.5) == 1.5
    assert ALONE.writes
    assert not World(rank=1, size=2).writes


def test_several_processes_share_no_device(monkeypatch: pytest.MonkeyPatch):
    two = World(rank=1, size=2)
    assert device_of("cuda:3", ALONE) == "cuda:3"
    assert device_of("cpu", two) == "cpu"
    with pytest.raises(ContractError, match="cuda:1 is one device, but 2 processes"):
        device_of("cuda:1", two)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    with pytest.raises(ContractError, match="but 1 are visible"):
        device_of("auto", two)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert device_of("auto", two) == "cuda:1"


def test_settings_for_another_number_of_processes_are_a_fault():
    with pytest.raises(IntegrityError, match="for 2 processes, but 1 train"):
        train(rank_toys.toys.toy("llama")[0], [], LoopSettings(world_size=2), pad_id=0)
