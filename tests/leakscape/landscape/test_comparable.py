from pathlib import Path
from typing import Any

import landscape_fakes as fakes
import pytest

from leakscape import schemas
from leakscape.errors import ArtifactError
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.scoring.rows import Row

TASK = {"metric": "acc", "value": 0.5, "stderr": 0.1, "n": 9, "higher_is_better": True, "version": "1", "fewshot": 0}


def rows(candidates: int = 64) -> list[Row]:
    verbatim = [fakes.row("verbatim", f"c{n}", 4, multiplicity=1) for n in range(2)]
    return [*verbatim, *(fakes.ranked(f"c{n}", 3, candidates, 1) for n in range(2))]


def pair(folder: Path, one: dict[str, Any], other: dict[str, Any], candidates: int = 64) -> list[Path]:
    none = fakes.measurements(rows(), **one)
    direct = fakes.measurements(rows(candidates), condition="direct", adapters=("ada",), **other)
    return [fakes.store(folder / "none", none), fakes.store(folder / "direct", direct)]


def departures(paths: list[Path], evidence: list[Path] | None = None, *, force: bool = False) -> list[str]:
    measured = read_measurements(paths, force=force)
    return aggregate(measured, read_evidence(evidence or []), {}, Settings(resamples=100)).targets[0].departures


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ({"tokenizer_hash": "a" * 64}, {}, r"tokenizer_hash \(a{16}\.\.\. and feed\)"),
        ({"precision": "bfloat16"}, {}, r"precision \(bfloat16 and float32\)"),
        ({"prompt_hash": "a"}, {"prompt_hash": "b"}, r"prompt_hash \(a and b\)"),
        (
            {"details": {"extraction": {"samples": 8, "near": 0.9}}},
            {"details": {"extraction": {"samples": 4, "near": 0.9}}},
            r"samples of extraction \(8 and 4\)",
        ),
        (
            {"details": {"harness": {"arc": TASK}}},
            {"details": {"harness": {"arc": {**TASK, "version": "2"}}}},
            r"version of the harness task arc \(1 and 2\)",
        ),
    ],
)
def test_what_changes_a_figures_meaning_is_refused_and_when_forced_said(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any], words: str
):
    paths = pair(tmp_path, one, other)
    with pytest.raises(ArtifactError, match=rf"/none \(none\) and .*/direct \(direct\) differ in {words}.*--force"):
        read_measurements(paths)
    [said, *_] = departures(paths, force=True)
    assert said.startswith("direct and none differ in ")
    assert said.endswith("so their figures do not compare.")


def test_exposures_among_other_numbers_of_names_are_refused(tmp_path: Path):
    paths = pair(tmp_path, {}, {}, candidates=32)
    with pytest.raises(ArtifactError, match="the number of names"):
        read_measurements(paths)


def test_canaries_of_the_same_ids_but_another_draw_are_refused(tmp_path: Path):
    one, _ = pair(tmp_path, {}, {})
    data = fakes.measurements(rows(), condition="other", adapters=("x",))
    with pytest.raises(ArtifactError, match=r"differ in canaries \(ca0000 and ca0001\)"):
        read_measurements([one, fakes.store(tmp_path / "other", data, canaries="ca0001")])


def test_forced_figures_are_made_of_what_pairs(tmp_path: Path):
    """Perplexity 4 against 4 for both canaries; a third one that only direct has takes no part in the difference."""
    more = [*rows(), fakes.row("verbatim", "c9", 64, multiplicity=1)]
    paths = [
        fakes.store(tmp_path / "none", fakes.measurements(rows())),
        fakes.store(tmp_path / "direct", fakes.measurements(more, condition="direct", adapters=("ada",))),
    ]
    measured = read_measurements(paths, force=True)
    target = aggregate(measured, [], {}, Settings(resamples=100)).targets[0]
    assert target.departures == [
        "direct and none have different ids or multiplicities in the probe verbatim, so their figures do not compare."
    ]
    found = target.conditions[0].differences["none"]["verbatim_perplexity"]
    assert (found.n, found.value) == (2, pytest.approx(1))


def test_two_of_the_same_condition_are_refused_even_when_forced(tmp_path: Path):
    one, _ = pair(tmp_path, {}, {})
    with pytest.raises(ArtifactError, match="both measure"):
        read_measurements([one, one], force=True)


@pytest.mark.parametrize(
    ("name", "values"), [("world_size", (1, 4)), ("batch_size", (8, 16)), ("device", ("cpu", "cuda"))]
)
def test_how_scoring_was_spread_is_noted_not_refused(tmp_path: Path, name: str, values: tuple[Any, Any]):
    one, other = values
    [said] = departures(pair(tmp_path, {name: one}, {name: other}))
    assert f"a different {name} ({other}: direct; {one}: none)" in said


def test_a_measurement_that_does_not_say_its_prompts_is_compared_and_named(tmp_path: Path):
    [said] = departures(pair(tmp_path, {}, {"prompt_hash": "a"}))
    assert said == "The measurements of none do not say with which prompts they were made."


def log(folder: Path, name: str, adapter: str, component: str = "lora-train", **summary: object) -> Path:
    return fakes.Evidence(schemas.TRAINING_LOG, "plain", {"adapter": adapter}, summary, component=component).store(
        folder / f"log-{name}"
    )


def three(folder: Path) -> list[Path]:
    names = {"direct": "a", "scrub": "b", "dp": "c"}
    return [
        fakes.store(folder / name, fakes.measurements(rows(), condition=name, adapters=(adapter,)))
        for name, adapter in names.items()
    ]


def test_settings_of_the_same_trainer_are_noted_and_those_of_another_are_not(tmp_path: Path):
    logs = [
        log(tmp_path, "direct", "a", effective_batch=4, world_size=1, precision="float32"),
        log(tmp_path, "scrub", "b", effective_batch=8, world_size=2, precision="float32"),
        log(tmp_path, "dp", "c", "dp-train", world_size=8, precision="float32"),
    ]
    ends = "a difference between them may come from that."
    assert departures(three(tmp_path), logs) == [
        f"lora-train trained scrub with effective_batch 8 and direct with 4: {ends}",
        f"lora-train trained scrub with world_size 2 and direct with 1: {ends}",
    ]


def test_a_model_scored_in_another_form_than_it_was_trained_in_is_noted(tmp_path: Path):
    logs = [log(tmp_path, "direct", "a", tokenizer_hash="beef", precision="bfloat16", chat=False)]
    assert departures(three(tmp_path), logs) == [
        "direct was trained with tokenizer_hash beef and scored with feed.",
        "direct was trained with precision bfloat16 and scored with float32.",
    ]


def test_judges_that_differ_are_noted(tmp_path: Path):
    judged = [
        fakes.Evidence(schemas.JUDGEMENTS, corpus, {}, {"model": model}, component="judge").store(tmp_path / model)
        for corpus, model in (("one", "m1"), ("two", "m2"))
    ]
    logs = [
        fakes.Evidence(schemas.TRAINING_LOG, corpus, {"adapter": adapter}).store(tmp_path / f"log{adapter}")
        for corpus, adapter in (("one", "a"), ("two", "b"))
    ]
    [said] = departures(three(tmp_path), [*judged, *logs])
    assert (
        said
        == "Judges or their rubrics differ (direct; scrub), so judged figures compare only within each of these groups."
    )
