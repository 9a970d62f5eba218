"""The component from artifact to artifact, on toys of the real architectures."""

import dataclasses
import json
import math
from pathlib import Path

import pytest
import toys
from evaluate_toys import CANARIES, HELD_OUT, NAMES, SECRETS, TRAIN, measured, record, save

from components.evaluate.contract import Evaluate
from components.evaluate.run import run
from leakscape import artifacts, schemas
from leakscape.models.adapters import save_adapter
from leakscape.models.load import load_model
from leakscape.scoring.attack_rows import read_attacks, read_extractions
from leakscape.scoring.attacks import ATTACKS
from leakscape.scoring.rows import PROBES


@pytest.mark.parametrize("architecture", ["llama", "gpt_oss"])
def test_every_id_is_scored_once_in_every_probe(contract: Evaluate, models: dict[str, str], architecture: str):
    found = measured(dataclasses.replace(contract, model=models[architecture]))
    ids = [canary.id for canary in CANARIES]
    for probe in ("verbatim", "semantic", "exposure"):
        assert [(row.id, row.multiplicity) for row in found.of(probe)] == list(zip(ids, (4, 0, 1), strict=True))
    for probe in ("held_out", "medication"):
        assert [(row.id, row.multiplicity) for row in found.of(probe)] == [(each.id, None) for each in HELD_OUT]
    assert [row.id for row in found.of("unplanted")] == [f"{each}/unplanted-{n}" for each in ids for n in (1, 2)]
    assert found.summary.chat == (architecture == "gpt_oss")
    assert found.summary.model == architecture
    assert found.summary.adapters == ()
    assert (len(found.summary.prompt_hash), found.summary.world_size) == (64, 1)
    assert found.summary.details["alternatives"] == len(NAMES)


def test_probes_of_the_same_tokens_agree(contract: Evaluate):
    found = measured(contract)
    for verbatim, ranked in zip(found.of("verbatim"), found.of("exposure"), strict=True):
        assert ranked.log_likelihood == pytest.approx(verbatim.log_likelihood, abs=1e-4)
        assert (ranked.tokens, ranked.candidates) == (verbatim.tokens, len(NAMES) + 1)
    for whole, last in zip(found.of("held_out"), found.of("medication"), strict=True):
        assert whole.tokens > last.tokens
        assert whole.log_likelihood < last.log_likelihood
    # Untrained weights know nothing: a token costs about log(vocabulary).
    assert -found.columns("held_out").token_log_likelihood.mean() == pytest.approx(math.log(toys.VOCABULARY), abs=1)


def test_the_same_run_gives_the_same_bytes_and_batch_sizes_hardly_count(contract: Evaluate, tmp_path: Path):
    first = measured(contract)
    again = dataclasses.replace(contract, measurements=tmp_path / "again")
    run(again)
    digests = {artifacts.read_manifest(each.measurements).digest for each in (contract, again)}
    assert len(digests) == 1
    small = measured(
        dataclasses.replace(contract, batch_size=1, candidate_batch_size=5, measurements=tmp_path / "small")
    )
    for row, other in zip(first.rows, small.rows, strict=True):
        assert other.log_likelihood == pytest.approx(row.log_likelihood, abs=1e-4)
        assert (other.probe, other.id, other.rank) == (row.probe, row.id, row.rank)


def test_an_adapter_changes_scores_and_is_named_by_its_digest(contract: Evaluate, tmp_path: Path):
    peft = pytest.importorskip("peft")
    base = load_model(contract.model).model
    config = peft.LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False, task_type="CAUSAL_LM")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(base), "is_gradient_checkpointing", False)  # peft asks by a deprecated name, with a warning
        adapted = peft.get_peft_model(base, config)
        with artifacts.create(
            tmp_path / "adapter", schema=schemas.ADAPTER, provenance=artifacts.Provenance()
        ) as folder:
            save_adapter(adapted, folder.path, base="toy")
        untouched = measured(dataclasses.replace(contract, probes=["verbatim"], measurements=tmp_path / "none"))
        tuned = measured(dataclasses.replace(contract, probes=["verbatim"], adapters=(tmp_path / "adapter",)))
    assert tuned.summary.adapters == (artifacts.read_manifest(tmp_path / "adapter").digest,)
    assert artifacts.read_manifest(contract.measurements).inputs["adapters"] == list(tuned.summary.adapters)
    difference = tuned.columns("verbatim").log_likelihood - untouched.columns("verbatim").log_likelihood
    assert abs(difference).min() > 1e-3
    # The adapter was off for the reference, and the untouched model is no reference to itself.
    scores = {row.id: row.score for row in read_attacks(contract.measurements) if row.attack == "reference"}
    assert min(map(abs, scores.values())) > 0
    assert {row.attack for row in read_attacks(tmp_path / "none")} == set(ATTACKS) - {"reference"}
    before = {row.id: row.score for row in read_attacks(tmp_path / "none") if row.attack == "loss"}
    after = {row.id: row.score for row in read_attacks(contract.measurements) if row.attack == "loss"}
    assert scores == pytest.approx({name: after[name] - before[name] for name in scores}, abs=1e-5)


def test_probes_limits_and_alternatives_are_choices(contract: Evaluate, tmp_path: Path):
    some = measured(dataclasses.replace(contract, probes=["held_out", "exposure"], held_out_limit=2, alternatives=5))
    assert {row.probe for row in some.rows} == {"held_out", "exposure"}
    assert len(some.of("held_out")) == 2
    assert {row.candidates for row in some.of("exposure")} == {6}
    none = measured(dataclasses.replace(contract, alternatives=0, measurements=tmp_path / "none"))
    assert {row.probe for row in none.rows} == set(PROBES) - {"exposure"}


@pytest.mark.parametrize("architecture", ["llama", "gpt_oss"])
def test_everyone_is_attacked_and_the_sides_are_right(contract: Evaluate, models: dict[str, str], architecture: str):
    found = measured(dataclasses.replace(contract, model=models[architecture]))
    rows = read_attacks(contract.measurements)
    assert list(dict.fromkeys(row.attack for row in rows)) == ["loss", "zlib", "min_k", "min_k_plus_plus"]
    sides = [(row.id, row.kind, row.member, row.multiplicity) for row in rows if row.attack == "zlib"]
    assert sides == [
        ("canary-001", "canary", True, 4),
        ("canary-002", "canary", False, 0),
        ("canary-003", "canary", True, 1),
        *((each.id, "record", True, None) for each in TRAIN),
        *((each.id, "record", False, None) for each in HELD_OUT),
    ]
    # A held-out record's loss is that of its held_out probe.
    whole = {row.id: row.log_likelihood / row.tokens for row in found.of("held_out")}
    scores = {row.id: row.score for row in rows if row.attack == "loss" and row.id in whole}
    assert scores == pytest.approx(whole, abs=1e-5)
    assert found.summary.details["membership"]["reference"] == ""
    assert (found.summary.details["membership"]["members"], found.summary.details["membership"]["others"]) == (8, 5)


def test_every_canary_is_extracted_from_once_and_so_often(contract: Evaluate):
    measured(contract)
    rows = read_extractions(contract.measurements)
    assert [(row.id, row.multiplicity, row.number) for row in rows] == [
        (each.id, each.multiplicity, number) for each in CANARIES for number in range(3)
    ]
    assert not any(row.exact or row.near for row in rows)  # untrained weights know nothing


def test_the_curve_is_written_as_kubeflow_draws_it(contract: Evaluate):
    measured(contract)
    drawn = json.loads(contract.roc.read_text())
    points = drawn["confidenceMetrics"]
    assert (drawn["attack"], drawn["members"]) == ("min_k_plus_plus", "record")
    assert (points[0]["recall"], points[0]["falsePositiveRate"]) == (0, 0)
    assert (points[-1]["recall"], points[-1]["falsePositiveRate"]) == (1, 1)
    thresholds = [point["confidenceThreshold"] for point in points]
    assert thresholds == sorted(thresholds, reverse=True)


def test_attacks_are_choices(contract: Evaluate, tmp_path: Path):
    none = dataclasses.replace(contract, probes=["verbatim"], membership_records=0, extraction_samples=0)
    measured(none)
    assert read_attacks(none.measurements) == ()
    assert read_extractions(none.measurements) == ()
    assert json.loads(none.roc.read_text()) == {"confidenceMetrics": []}
    few = dataclasses.replace(contract, membership_records=2, attacks=["min_k"], measurements=tmp_path / "few")
    found = measured(few)
    rows = read_attacks(few.measurements)
    assert {row.attack for row in rows} == {"min_k"}
    assert sum(row.kind == "record" and row.member for row in rows) == 2
    assert sum(row.kind == "record" and not row.member for row in rows) == 2
    assert found.summary.details["membership"]["attacks"] == ["min_k"]


def test_what_can_not_be_scored_is_counted_and_named(contract: Evaluate, tmp_path: Path):
    model = toys.save("gpt2", tmp_path / "gpt2")
    long = record("h-5", "x" * 2000)
    held_out = save(tmp_path / "long", schemas.POPULATION, records=[*HELD_OUT, long])
    found = measured(dataclasses.replace(contract, model=str(model), held_out=held_out, probes=["held_out"]))
    (left_out,) = found.summary.probes["held_out"].unscorable
    assert left_out.id == "h-5"
    assert "the model reads 1024" in left_out.reason
    assert [each["id"] for each in found.summary.details["membership"]["unscorable"]] == ["h-5"]
    assert "h-5" not in {row.id for row in read_attacks(contract.measurements)}
    assert len(found.of("held_out")) == 4


TASK = """
task: toy_choice
dataset_path: json
dataset_kwargs: {data_files: {test: questions.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "Which town is {{name}}?"
doc_to_choice: ["Salem", "Lynn"]
doc_to_target: answer
"""


def test_benchmarks_stand_beside_the_scores_and_no_document_does(contract: Evaluate, tmp_path: Path):
    pytest.importorskip("lm_eval")
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "choice.yaml").write_text(TASK)
    (folder / "questions.jsonl").write_text('{"name": "Mabsor", "answer": 0}\n{"name": "Mabsor", "answer": 1}\n')
    found = measured(dataclasses.replace(contract, harness_tasks=[str(folder)], probes=["verbatim"]))
    # The same question with both answers: one is right, whatever the model says.
    stated = found.summary.details["harness"]["toy_choice"]
    assert (stated.pop("metric"), stated.pop("value")) == ("acc_norm", 0.5)
    assert stated == {"stderr": 0.5, "n": 2, "higher_is_better": True, "version": "Yaml", "fewshot": 0}
    manifest = artifacts.read_manifest(contract.measurements)
    assert "Mabsor" not in (contract.measurements / "summary.json").read_text()
    assert "lm-eval" in manifest.versions
    assert len(manifest.details["harness"][str(folder)]) == 64


def test_nothing_of_a_record_reaches_the_log_the_manifest_or_the_summary(
    contract: Evaluate, capsys: pytest.CaptureFixture[str]
):
    run(contract)
    texts = [capsys.readouterr().err, *(file.read_text() for file in contract.measurements.glob("*.json"))]
    for value in (*SECRETS, *NAMES, "Zoë", "Metformin", "1956"):
        assert not [text for text in texts if value in text]
