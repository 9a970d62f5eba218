"""The component from artifact to artifact; dp-accounting as an independent accountant."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import TYPE_CHECKING, Any

import dp_accounting
import pytest
import toys
from dp_accounting import pld

import components.dp_train.run as component
from components.dp_train.contract import DpTrain
from leakscape import artifacts, schemas
from leakscape.canaries.canary import Canary
from leakscape.errors import ArtifactError, ContractError, InputError, LeakscapeError
from leakscape.models.load import load_model
from leakscape.records import builtin
from leakscape.records.record import CorpusRecord, instance
from leakscape.training.dataset import collate, tokenise_corpus
from leakscape.training.log import Step
from leakscape.training.objective import record_losses

if TYPE_CHECKING:
    from pathlib import Path

COPIES = 5
RECORDS = 20 + COPIES  # twenty people, one canary five times


_calibrate = cache(component.calibrate)


@pytest.fixture(autouse=True)
def calibrate_equal_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(component, "calibrate", _calibrate)  # takes seconds, and most runs here are equal


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("inputs")
    people = list(builtin.generate(21, seed=3, stream="train", reference_date=dt.date(2026, 1, 1)))
    rows = [instance(person) for person in people[:20]]
    rows += [instance(people[20], instance_id=f"canary-000/{copy}", person="canary-000") for copy in range(COPIES)]
    text = rows[-1].text
    secret = people[20].medications[-1]
    canary = Canary(
        id="canary-000", multiplicity=COPIES, secret=secret, prefix=text[: -len(secret)], question="Which one? ",
        donor=people[0].id, record=people[20],
    )  # fmt: skip
    with artifacts.create(root / "corpus", schema=schemas.CORPUS, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", rows)
    with artifacts.create(root / "canaries", schema=schemas.CANARIES, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("canaries.jsonl", [canary])
        folder.write_rows("alternatives.jsonl", [{"name": "Mabsartinib"}])
    models = {name: str(toys.save(name, root / name)) for name in ("llama", "gpt_oss")}
    return {"corpus": root / "corpus", "canaries": root / "canaries", **models}


def train(inputs: dict[str, Any], out: Path, *, architecture: str = "llama", **params: Any) -> DpTrain:  # noqa: ANN401
    settings = {
        "model": inputs[architecture], "lot": 10, "epochs": 1, "rank": 2, "learning_rate": 1e-2, "device": "cpu",
        "seed": 3, **params,
    }  # fmt: skip
    places = {**{name: inputs[name] for name in ("corpus", "canaries")}, "adapter": out / "adapter", "log": out / "log"}
    contract = DpTrain(**places, **settings)
    component.run(contract)
    return contract


def summary(contract: DpTrain) -> dict[str, Any]:
    found: dict[str, Any] = artifacts.load(contract.log, schema=schemas.TRAINING_LOG).json("summary.json")
    return found


def test_epsilon_is_confirmed_from_what_was_recorded(inputs: dict[str, Any], tmp_path: Path) -> None:
    contract = train(inputs, tmp_path)
    log = artifacts.load(contract.log, schema=schemas.TRAINING_LOG)
    privacy = log.json("summary.json")["privacy"]
    event = dp_accounting.PoissonSampledDpEvent(
        privacy["sampling_rate"], dp_accounting.GaussianDpEvent(privacy["sigma"])
    )
    accountant = pld.PLDAccountant(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    accountant.compose(event, privacy["steps"])
    independent = accountant.get_epsilon(privacy["delta"])
    assert independent == pytest.approx(privacy["epsilon"], rel=5e-3)
    assert independent <= privacy["epsilon"]
    assert 0.98 * 8 <= privacy["epsilon"] <= 8
    assert privacy["accountant"] == "prv"


def test_the_log_says_what_was_done(inputs: dict[str, Any], tmp_path: Path) -> None:
    contract = train(inputs, tmp_path)
    log = artifacts.load(contract.log, schema=schemas.TRAINING_LOG)
    found = log.json("summary.json")
    steps = list(log.rows("steps.jsonl", Step))
    privacy = found["privacy"]
    # one epoch of 25 records in lots of 10 on average: two whole steps
    assert (found["steps"], len(steps), privacy["steps"], len(found["lot_sizes"])) == (2, 2, 2, 2)
    assert (privacy["unit"], privacy["units"], privacy["expected_lot"]) == ("record", RECORDS, 10)
    assert privacy["sampling_rate"] == 10 / RECORDS
    assert found["instances"] == RECORDS
    assert found["adapted"] == ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]
    assert found["left_out"] == []
    assert any("up to 5 records" in line for line in found["cautions"])
    adapter = artifacts.load(contract.adapter, schema=schemas.ADAPTER).manifest
    assert log.manifest.details["adapter"] == adapter.digest
    assert log.manifest.details["privacy"] == adapter.details["privacy"] == privacy
    assert {"opacus", "peft", "torch"} <= set(log.manifest.versions)
    assert "loss.svg" in log.manifest.files


def test_a_person_is_one_unit(inputs: dict[str, Any], tmp_path: Path) -> None:
    found = summary(train(inputs, tmp_path, unit="person", micro_batch=2))
    assert (found["privacy"]["unit"], found["privacy"]["units"]) == ("person", 21)
    assert found["instances"] == RECORDS


def test_the_control_draws_the_same_lots_and_claims_nothing(inputs: dict[str, Any], tmp_path: Path) -> None:
    private = summary(train(inputs, tmp_path / "private"))
    control = summary(train(inputs, tmp_path / "control", control=True))
    assert control["lot_sizes"] == private["lot_sizes"]
    assert control["privacy"]["steps"] == private["privacy"]["steps"]
    assert (control["privacy"]["sigma"], control["privacy"]["control"]) == (0, True)
    assert "epsilon" not in control["privacy"]
    assert control["loss_first"] == private["loss_first"]  # the same adapter on the same lot
    assert control["loss_last"] != private["loss_last"]


def test_the_same_seed_gives_the_same_bytes(inputs: dict[str, Any], tmp_path: Path) -> None:
    made = [train(inputs, tmp_path / str(run_number), seed=seed) for run_number, seed in enumerate((3, 3, 4))]
    digests = [artifacts.read_manifest(contract.adapter).digest for contract in made]
    logs = [artifacts.read_manifest(contract.log).digest for contract in made]
    assert digests[0] == digests[1] != digests[2]
    assert logs[0] == logs[1] != logs[2]


def test_noise_of_the_system_is_stated_and_not_repeated(inputs: dict[str, Any], tmp_path: Path) -> None:
    kept = {"checkpoint_dir": str(tmp_path / "kept")}
    first = train(inputs, tmp_path / "first", noise_from="system", **kept)
    other = train(inputs, tmp_path / "other", noise_from="system")
    assert artifacts.read_manifest(first.adapter).digest != artifacts.read_manifest(other.adapter).digest
    found = summary(first)
    assert (found["privacy"]["noise_from"], found["deterministic"]) == ("system", False)
    assert (summary(train(inputs, tmp_path / "seed"))["deterministic"]) is True
    # A finished run is what its checkpoint says, with the lots that were drawn then.
    again = train(inputs, tmp_path / "again", noise_from="system", **kept)
    assert artifacts.read_manifest(again.adapter).digest == artifacts.read_manifest(first.adapter).digest
    assert summary(again)["lot_sizes"] == found["lot_sizes"]


def test_a_run_resumes_from_its_checkpoints_and_from_no_others(inputs: dict[str, Any], tmp_path: Path) -> None:
    kept = {"checkpoint_dir": str(tmp_path / "kept")}
    first = train(inputs, tmp_path / "first", **kept)
    again = train(inputs, tmp_path / "again", **kept)
    assert artifacts.read_manifest(first.adapter).digest == artifacts.read_manifest(again.adapter).digest
    alone, other = train(inputs, tmp_path / "alone", epsilon=4), train(inputs, tmp_path / "other", **kept, epsilon=4)
    assert artifacts.read_manifest(other.adapter).digest == artifacts.read_manifest(alone.adapter).digest


def test_adapter_reloads_to_what_was_trained(inputs: dict[str, Any], tmp_path: Path) -> None:
    contract = train(inputs, tmp_path, control=True, epochs=6)
    base = load_model(contract.model, device="cpu")
    rows = list(artifacts.load(contract.corpus, schema=schemas.CORPUS).rows("records.jsonl", CorpusRecord))
    examples = tokenise_corpus(base, rows, max_tokens=1024).examples
    losses = []
    for loaded in (base, load_model(contract.model, device="cpu", adapters=[contract.adapter])):
        batch = collate(examples, pad_id=loaded.tokenizer.pad_token_id)
        labels = batch.pop("labels")
        losses.append(float(record_losses(loaded.model(**batch).logits, labels).detach().mean()))
    assert losses[0] == pytest.approx(summary(contract)["loss_first"], rel=0.02)
    assert losses[1] < losses[0] - 0.1


def test_experts_are_left_out_and_named(inputs: dict[str, Any], tmp_path: Path) -> None:
    contract = train(inputs, tmp_path, architecture="gpt_oss", gradient_checkpointing=True)
    found = summary(contract)
    assert found["adapted"] == ["k_proj", "o_proj", "q_proj", "v_proj"]
    assert found["left_out"] == ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]
    assert found["chat"] is True


@pytest.mark.parametrize(
    ("params", "kind", "words"),
    [
        ({"lot": 26}, InputError, "larger than the 25 units"),
        ({"lot": 22, "unit": "person"}, InputError, "larger than the 21 units"),
        ({"epsilon": float("inf")}, InputError, "--control"),
        ({"epsilon": 0.0}, ContractError, "--epsilon"),
        ({"epsilon": -1.0}, ContractError, "--epsilon"),
        ({"delta": 1.0}, InputError, "--delta"),
        ({"max_tokens": 30}, InputError, "canary-000"),
        ({"target_modules": "nothing"}, InputError, "--target-modules"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(
    inputs: dict[str, Any], tmp_path: Path, params: dict[str, Any], kind: type[LeakscapeError], words: str
) -> None:
    with pytest.raises(kind, match=words):
        train(inputs, tmp_path, **params)
    assert not (tmp_path / "adapter").exists()
    assert not (tmp_path / "log").exists()


def test_an_artifact_of_another_kind_is_refused(inputs: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="is needed here"):
        train({**inputs, "corpus": inputs["canaries"]}, tmp_path)
