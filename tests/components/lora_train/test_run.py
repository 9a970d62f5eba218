"""The component from artifacts to artifacts."""

import dataclasses
import errno
from pathlib import Path
from typing import Any

import pytest
import toys
from corpora import canary, copies, records

from components.lora_train.contract import LoraTrain
from components.lora_train.run import run
from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError, ContractError, InputError
from leakscape.models.load import load_model
from leakscape.training.log import Step
from leakscape.training.processes import RankError

PLANTED = canary(3, multiplicity=2)
ROWS = [*records(6), *copies(PLANTED)]


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Any]:
    toys.save("llama", tmp_path / "model")
    made = artifacts.Provenance()
    with artifacts.create(tmp_path / "corpus", schema=schemas.CORPUS, provenance=made) as folder:
        folder.write_rows("records.jsonl", ROWS)
    with artifacts.create(tmp_path / "canaries", schema=schemas.CANARIES, provenance=made) as folder:
        folder.write_rows("canaries.jsonl", [PLANTED])
        folder.write_rows("alternatives.jsonl", [{"name": "Gugirafenib"}])
    return {"corpus": tmp_path / "corpus", "canaries": tmp_path / "canaries", "model": str(tmp_path / "model")}


def trained(out: Path, inputs: dict[str, Any], **params: Any) -> tuple[artifacts.Artifact, artifacts.Artifact]:  # noqa: ANN401
    settings = {"batch_size": 4, "learning_rate": 1e-2, "rank": 4, "device": "cpu", **params}
    run(LoraTrain(adapter=out / "adapter", log=out / "log", **inputs, **settings))
    return (
        artifacts.load(out / "adapter", schema=schemas.ADAPTER),
        artifacts.load(out / "log", schema=schemas.TRAINING_LOG),
    )


def test_an_adapter_and_its_log(tmp_path: Path, inputs: dict[str, Any]):
    adapter, log = trained(tmp_path / "out", inputs)
    assert set(adapter.manifest.files) == {"adapter_config.json", "adapter_model.safetensors"}
    assert log.manifest.details["adapter"] == adapter.manifest.digest
    summary = log.json("summary.json")
    steps = list(log.rows("steps.jsonl", Step))
    assert summary["instances"] == len(ROWS) == 8
    assert summary["steps"] == len(steps) == 4  # 8 instances in batches of 4, two epochs
    assert summary["tokens"] == 2 * summary["targets_an_epoch"]
    assert (summary["effective_batch"], summary["world_size"], summary["precision"]) == (4, 1, "float32")
    assert (summary["truncated"], summary["drop_share"]) == (0, 0.0)
    assert summary["loss_last"] == steps[-1].loss < steps[0].loss
    assert log.file("loss.svg").read_text().startswith("<svg")
    loaded = load_model(inputs["model"], adapters=[adapter.path], device="cpu")
    assert loaded.tokenizer_hash == adapter.manifest.details["tokenizer_hash"] == summary["tokenizer_hash"]


def test_the_same_arguments_give_the_same_digests(tmp_path: Path, inputs: dict[str, Any]):
    first = trained(tmp_path / "first", inputs)
    again = trained(tmp_path / "again", inputs)
    assert [artifact.manifest.digest for artifact in first] == [artifact.manifest.digest for artifact in again]
    other = trained(tmp_path / "other", inputs, seed=1)
    assert other[0].manifest.digest != first[0].manifest.digest


def test_goldfish_reports_the_share_it_dropped(tmp_path: Path, inputs: dict[str, Any]):
    _, log = trained(tmp_path / "out", inputs, objective="goldfish", goldfish_width=4)
    assert 0.1 < log.json("summary.json")["drop_share"] < 0.4


def test_a_finished_checkpoint_is_not_trained_again(tmp_path: Path, inputs: dict[str, Any]):
    folder = str(tmp_path / "checkpoints")
    first = trained(tmp_path / "first", inputs, checkpoint_dir=folder, checkpoint_every=1, gradient_checkpointing=True)
    again = trained(tmp_path / "again", inputs, checkpoint_dir=folder, checkpoint_every=1, gradient_checkpointing=True)
    assert first[0].manifest.digest == again[0].manifest.digest


def test_runs_share_a_place_for_checkpoints_and_keep_to_their_own(tmp_path: Path, inputs: dict[str, Any]):
    alone = trained(tmp_path / "alone", inputs, epochs=3)
    kept = {"checkpoint_dir": str(tmp_path / "kept"), "checkpoint_every": 1}
    first = trained(tmp_path / "first", inputs, **kept)
    other = trained(tmp_path / "other", inputs, epochs=3, **kept)
    assert other[0].manifest.digest == alone[0].manifest.digest != first[0].manifest.digest
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_several_processes_are_started_as_one_step(
    tmp_path: Path, inputs: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    asked: list[tuple[LoraTrain, int]] = []
    monkeypatch.setattr("components.lora_train.run.train_together", lambda *given: asked.append(given))
    contract = LoraTrain(adapter=tmp_path / "adapter", log=tmp_path / "log", **inputs, device="cpu", processes=3)
    run(contract)
    assert asked == [(contract, 3)]
    with pytest.raises(ContractError, match="cuda:1 is one device"):
        run(dataclasses.replace(contract, device="cuda:1"))


@pytest.mark.slow
@pytest.mark.parametrize("sharding", ["none", "fsdp"])
def test_two_processes_write_what_one_would(tmp_path: Path, inputs: dict[str, Any], sharding: str):
    one = trained(tmp_path / "one", inputs)
    two = {"adapter": tmp_path / "two" / "adapter", "log": tmp_path / "two" / "log"}
    settings = {"batch_size": 2, "learning_rate": 1e-2, "rank": 4, "device": "cpu"}
    kept = str(tmp_path / "kept")
    run(LoraTrain(**two, **inputs, **settings, processes=2, sharding=sharding, checkpoint_dir=kept))
    log = artifacts.load(two["log"], schema=schemas.TRAINING_LOG)
    summary, alone = log.json("summary.json"), one[1].json("summary.json")
    assert (summary["effective_batch"], summary["world_size"], summary["sharding"]) == (4, 2, sharding)
    assert (alone["effective_batch"], alone["world_size"], alone["sharding"]) == (4, 1, "none")
    for step, other in zip(log.rows("steps.jsonl", Step), one[1].rows("steps.jsonl", Step), strict=True):
        assert (step.loss, step.tokens) == (pytest.approx(other.loss, abs=1e-4), other.tokens)
    assert log.manifest.details["adapter"] == artifacts.read_manifest(two["adapter"]).digest
    with pytest.raises(InputError, match="checkpoints of 2 processes, but 1"):
        trained(tmp_path / "other", inputs, checkpoint_dir=kept, batch_size=2)


@pytest.mark.slow
def test_an_error_of_all_processes_is_told_once_and_leaves_nothing(
    tmp_path: Path, inputs: dict[str, Any], capfd: pytest.CaptureFixture[str]
):
    out = {"adapter": tmp_path / "out" / "adapter", "log": tmp_path / "out" / "log"}
    with pytest.raises(RankError) as caught:
        run(LoraTrain(**out, **inputs, device="cpu", processes=2, max_tokens=32))
    assert caught.value.exit_code == 2
    assert "canary-003 lies beyond 32 tokens" in capfd.readouterr().err
    assert not list((tmp_path / "out").iterdir())


def test_a_secret_beyond_the_limit_fails_and_leaves_nothing(tmp_path: Path, inputs: dict[str, Any]):
    with pytest.raises(InputError, match="canary-003 lies beyond 32 tokens"):
        trained(tmp_path / "out", inputs, max_tokens=32)
    assert not (tmp_path / "out" / "adapter").exists()


def test_a_disk_that_fills_between_the_artifacts_leaves_neither(
    tmp_path: Path, inputs: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    write_json, written = artifacts.Folder.write_json, []

    def full(folder: artifacts.Folder, name: str, value: object) -> None:
        written.append(name)
        if written.count(artifacts.MANIFEST) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_json(folder, name, value)

    monkeypatch.setattr(artifacts.Folder, "write_json", full)
    with pytest.raises(OSError, match="No space"):
        trained(tmp_path / "out", inputs)
    assert list((tmp_path / "out").iterdir()) == []


def test_what_lay_there_before_stays(tmp_path: Path, inputs: dict[str, Any]):
    trained(tmp_path / "out", inputs)
    (tmp_path / "out" / "log").rename(tmp_path / "log")
    with pytest.raises(ArtifactError, match="exists already"):
        trained(tmp_path / "out", inputs)
    assert artifacts.load(tmp_path / "out" / "adapter", schema=schemas.ADAPTER)
    assert not (tmp_path / "out" / "log").exists()


def test_a_model_must_be_given(tmp_path: Path, inputs: dict[str, Any]):
    with pytest.raises(ContractError, match="--model must be given"):
        trained(tmp_path / "out", {**inputs, "model": ""})
