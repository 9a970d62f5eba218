"""What holds for every landscape, whatever was measured."""

import random
from dataclasses import replace
from pathlib import Path

import audit_fakes
import landscape_fakes as fakes
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakscape import artifacts, schemas
from leakscape.artifacts import Provenance
from leakscape.errors import ArtifactError
from leakscape.landscape import schema
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.correlations import PAIRS
from leakscape.landscape.estimates import Settings
from leakscape.landscape.inputs import Measured
from leakscape.landscape.schema import Landscape
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.typed_json import plain

FAST = Settings(resamples=100)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Landscape:
    return audit_fakes.full(tmp_path_factory.mktemp("full"), FAST)


def stored(landscape: Landscape, path: Path) -> Path:
    with artifacts.create(path, schema=schemas.LANDSCAPE, provenance=Provenance()) as folder:
        folder.write_json(schema.FILE, landscape)
    return path


def check_each_metric_once(landscape: Landscape) -> None:
    for target in landscape.targets:
        for item in target.conditions:
            missing = [gap.metric for gap in item.unmeasured]
            assert len(missing) == len(set(missing))
            assert not set(missing) & set(item.metrics)
            assert set(missing) | set(item.metrics) <= set(landscape.catalogue)
            assert all(gap.reason for gap in item.unmeasured)
        assert (
            len({frozenset([*item.metrics, *(gap.metric for gap in item.unmeasured)]) for item in target.conditions})
            == 1
        )


def test_a_full_audit_measures_nearly_everything(made: Landscape):
    check_each_metric_once(made)
    direct = next(item for item in made.targets[0].conditions if item.name == "rewrite")
    assert {gap.metric for gap in direct.unmeasured} == {"extrapolated_exposure_bits", "membership_tpr_at_0_1_percent"}
    assert made.catalogue["harness_arc_easy"].title == "arc_easy, acc"
    assert direct.metrics["harness_arc_easy"].n == 250


def test_what_is_written_reads_back_the_same(made: Landscape, tmp_path: Path):
    assert schema.read(stored(made, tmp_path / "landscape")) == made


def test_a_landscape_of_another_form_is_refused(made: Landscape, tmp_path: Path):
    """The manifest may say one thing and the document another: a copy that was edited and hashed anew."""
    with pytest.raises(ArtifactError, match="does not hold leakscape/landscape/1"):
        schema.read(stored(replace(made, schema="leakscape/landscape/0"), tmp_path / "landscape"))


def test_a_full_audit_correlates_every_pair(made: Landscape):
    assert [(found.x, found.y) for found in made.targets[0].correlations] == list(PAIRS)
    assert made.targets[0].departures == []


def test_a_landscape_without_the_newer_keys_still_reads(made: Landscape, tmp_path: Path):
    old = plain(made)
    for key in ("delta", "catalogue"):
        del old[key]
    for target in old["targets"]:
        for key in ("correlations", "departures"):
            del target[key]
        for item in target["conditions"]:
            for key in ("attacks", "extraction", "epsilon_bound", "judged", "disclosed", "costs"):
                del item[key]
    with artifacts.create(tmp_path / "old", schema=schemas.LANDSCAPE, provenance=Provenance()) as folder:
        folder.write_json(schema.FILE, old)
    assert schema.read(tmp_path / "old").targets[0].conditions[0].attacks == []


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[Measured]:
    return read_measurements(audit_fakes.laptop(tmp_path_factory.mktemp("measured"), audit_fakes.FULL[:4], coins=True))


@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_the_order_of_measurements_plays_no_part_and_each_metric_stands_once(
    measured: list[Measured], data: st.DataObject
):
    """Some of the conditions, each with some of its probes, with or without attacks and extraction, in any order."""
    chosen = data.draw(st.lists(st.sampled_from(measured), min_size=1, unique_by=lambda item: item.place))
    probes = data.draw(st.sets(st.sampled_from(("verbatim", "semantic", "held_out", "exposure"))))
    some = [reduced(item, probes, attacks=data.draw(st.booleans()), told=data.draw(st.booleans())) for item in chosen]
    landscape = aggregate(some, [], {}, FAST)
    check_each_metric_once(landscape)
    random.Random(0).shuffle(some)
    assert aggregate(some, [], {}, FAST) == landscape


def reduced(item: Measured, probes: set[str], *, attacks: bool, told: bool) -> Measured:
    rows = [row for row in item.data.rows if row.probe in probes]
    data = fakes.measurements(
        rows, condition=item.summary.condition, adapters=item.summary.adapters, details=item.summary.details
    )
    return Measured(item.path, item.manifest, data, item.attacks if attacks else (), item.extractions if told else ())


def test_a_harness_task_has_the_interval_of_its_error_and_the_direction_it_states(tmp_path: Path):
    """Accuracy 0.5 with standard error 0.1: 0.5 +- 1.96 * 0.1. Perplexity has none, and low is good."""
    base = {"n": 50, "version": "1"}
    accuracy = {"metric": "acc", "value": 0.5, "stderr": 0.1, "higher_is_better": True, **base}
    perplexity = {"metric": "ppl", "value": 9.0, "stderr": None, "higher_is_better": False, **base}
    rows = [fakes.row("verbatim", "c0", 4, multiplicity=1)]
    none = fakes.measurements(rows, details={"harness": {"quiz": accuracy, "text": perplexity}})
    direct = fakes.measurements(rows, condition="direct", adapters=("a",), details={"harness": {"quiz": accuracy}})
    paths = [fakes.store(tmp_path / "0", none), fakes.store(tmp_path / "1", direct)]
    landscape = aggregate(read_measurements(paths), read_evidence([]), {}, FAST)
    one, other = landscape.targets[0].conditions
    quiz = other.metrics["harness_quiz"]
    assert (quiz.low, quiz.high) == (pytest.approx(0.304, abs=1e-3), pytest.approx(0.696, abs=1e-3))
    assert (other.metrics["harness_text"].low, other.metrics["harness_text"].value) == (None, 9)
    assert [landscape.catalogue[f"harness_{task}"].better for task in ("quiz", "text")] == ["high", "low"]
    assert [gap.reason for gap in one.unmeasured if gap.metric == "harness_text"] == ["the task was not run"]


def test_each_artifact_is_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    [path] = audit_fakes.laptop(tmp_path, ("direct",))
    hashed: list[str] = []
    real = artifacts.hash_file
    monkeypatch.setattr(artifacts, "hash_file", lambda file: hashed.append(file.name) or real(file))
    read_measurements([path])
    assert sorted(hashed) == ["attacks.parquet", "extraction.parquet", "scores.parquet", "summary.json"]
