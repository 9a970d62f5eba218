import json
import math
from dataclasses import replace
from pathlib import Path

import audit_fakes
import landscape_fakes as fakes
import numpy as np
import pytest
from pydantic import TypeAdapter

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.catalogue import CATALOGUE
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import Condition, Landscape
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.scoring.measurements import Measurements
from leakscape.scoring.rows import Row, Unscorable

FAST = Settings(resamples=400)


def canaries(*perplexities: float, copies: tuple[int, ...] = (1, 1, 64, 64)) -> list[Row]:
    values = zip(perplexities, copies, strict=True)
    return [fakes.row("verbatim", f"c{n}", value, multiplicity=times) for n, (value, times) in enumerate(values)]


def records(*perplexities: float) -> list[Row]:
    return [fakes.row("held_out", f"h{n}", value) for n, value in enumerate(perplexities)]


def landscape(
    folder: Path, *given: Measurements, plan: dict[str, object] | None = None, settings: Settings = FAST
) -> Landscape:
    paths = [fakes.store(folder / f"m{place}", data) for place, data in enumerate(given)]
    return aggregate(read_measurements(paths), [], plan or {}, settings)


def trained(rows: list[Row], name: str = "direct", **summary: object) -> Measurements:
    return fakes.measurements(rows, condition=name, adapters=(f"ada-{name}",), **summary)


def conditions(made: Landscape) -> dict[str, Condition]:
    return {item.name: item for item in made.targets[0].conditions}


@pytest.fixture
def two(tmp_path: Path) -> dict[str, Condition]:
    none = fakes.measurements([*canaries(16, 16, 4, 64), *records(8, 32)])
    direct = trained([*canaries(8, 32, 2, 2), *records(2, 2)])
    return conditions(landscape(tmp_path, none, direct))


def test_perplexities_by_hand(two: dict[str, Condition]):
    """Geometric means: of 16, 16, 4, 64 it is 16; of 8, 32, 2, 2 it is (2^10)^(1/4) = 5.657; of 8 and 32 it is 16."""
    none, direct = two["none"].metrics, two["direct"].metrics
    assert none["verbatim_perplexity"].value == pytest.approx(16)
    assert direct["verbatim_perplexity"].value == pytest.approx(2**2.5)
    assert none["held_out_perplexity"].value == pytest.approx(16)
    assert direct["verbatim_perplexity"].by_multiplicity["64"].value == pytest.approx(2)
    assert direct["verbatim_perplexity"].by_multiplicity["1"].value == pytest.approx(16)
    assert (direct["verbatim_perplexity"].n, direct["verbatim_perplexity"].by_multiplicity["64"].n) == (4, 2)
    assert not none["held_out_perplexity"].by_multiplicity


def test_generation_probability_by_hand(two: dict[str, Condition]):
    """Two tokens each: the chance of a secret is perplexity^-2; the mean of 1/64, 1/1024, 1/4, 1/4."""
    assert two["direct"].metrics["generation_probability"].value == pytest.approx((1 / 64 + 1 / 1024 + 0.5) / 4)
    assert two["direct"].metrics["log10_generation_probability"].value == pytest.approx(-2 * 2.5 * math.log10(2))


def test_differences_are_paired_ratios(two: dict[str, Condition]):
    """Factors 1/2, 2, 1/2, 1/32: geometric mean 2^-1.5; in x64 (1/2 * 1/32)^(1/2) = 1/8, with pairs far apart."""
    found = two["direct"].differences["none"]["verbatim_perplexity"]
    assert (found.scale, found.n) == ("ratio", 4)
    assert found.value == pytest.approx(2**-1.5)
    assert found.by_multiplicity["64"].value == pytest.approx(1 / 8)
    assert found.by_multiplicity["1"].value == pytest.approx(1)
    # Log2 factors -1, 1, -1, -5 sum to -6: which of the 16 sign patterns reach 6?
    sums = [abs(a - b + c + 5 * d) for a in (1, -1) for b in (1, -1) for c in (1, -1) for d in (1, -1)]
    assert found.p == pytest.approx(sum(total >= 6 for total in sums) / 16)
    assert two["none"].differences["direct"]["verbatim_perplexity"].value == pytest.approx(2**1.5)
    assert "none" not in two["none"].differences


def test_every_metric_is_measured_or_has_a_reason(two: dict[str, Condition]):
    for item in two.values():
        named = {gap.metric for gap in item.unmeasured}
        assert named | set(item.metrics) == set(CATALOGUE)
        assert not named & set(item.metrics)
        assert all(gap.reason for gap in item.unmeasured)


def test_exposure_and_its_exact_share(tmp_path: Path):
    """Ranks 1, 1, 8, 16 of 64: 6, 6, 3, 2 bits, mean 4.25; two of four ranked first: exact interval .068 to .932."""
    rows = [fakes.ranked(f"c{n}", rank, 64, 16) for n, rank in enumerate((1, 1, 8, 16))]
    item = conditions(landscape(tmp_path, fakes.measurements(rows)))["none"]
    assert item.metrics["exposure_bits"].value == pytest.approx(4.25)
    first = item.metrics["rank_first_share"]
    assert (first.value, first.low, first.high) == pytest.approx((0.5, 0.0676, 0.9324), abs=1e-3)
    assert item.exposure_counts == [0, 0, 1, 1, 0, 0, 2]


def test_ranks_and_front(tmp_path: Path):
    """Direct is more capable, none more private, and bad beaten by direct in both."""
    none = fakes.measurements([*canaries(16, 16, 16, 16), *records(9, 9)])
    direct = trained([*canaries(8, 8, 8, 8), *records(2, 2)])
    bad = trained([*canaries(4, 4, 4, 4), *records(3, 3)], "bad")
    made = landscape(tmp_path, none, direct, bad)
    ranks = {
        name: (item.ranks["privacy"].value, item.ranks["capability"].value) for name, item in conditions(made).items()
    }
    assert ranks == {"none": (1, 3), "direct": (2, 1), "bad": (3, 2)}
    front = made.targets[0].front
    assert front is not None
    assert (front.privacy, front.conditions) == ("verbatim_perplexity", ["direct", "none"])


def test_plan_gives_order_summary_and_what_is_missing(tmp_path: Path):
    plan = {"conditions": [{"name": "direct", "summary": "As it is."}, {"name": "none"}, {"name": "dp"}]}
    made = landscape(tmp_path, fakes.measurements(canaries(2, 2, 2, 2)), trained(canaries(2, 2, 2, 2)), plan=plan)
    target = made.targets[0]
    assert [item.name for item in target.conditions] == ["direct", "none"]
    assert target.conditions[0].summary == "As it is."
    assert (target.untouched, target.direct, target.missing) == ("none", "direct", ["dp"])


def test_one_canary_has_a_figure_but_no_interval(tmp_path: Path):
    found = conditions(landscape(tmp_path, fakes.measurements(canaries(7, copies=(1,)))))["none"]
    figure = found.metrics["verbatim_perplexity"]
    assert (figure.value, figure.low, figure.high, figure.n) == (pytest.approx(7), None, None, 1)


def test_the_unscorable_are_kept_and_pairs_without_them_are_compared(tmp_path: Path):
    none = fakes.measurements(canaries(16, 16, 16, 16))
    rows = canaries(8, 8, 8, 8)
    direct = fakes.measurements(
        rows[:3], {"verbatim": [Unscorable("c3", "no token")]}, condition="direct", adapters=("ada",)
    )
    found = conditions(landscape(tmp_path, none, direct))["direct"]
    assert found.probes["verbatim"].unscorable == [{"id": "c3", "reason": "no token"}]
    assert found.differences["none"]["verbatim_perplexity"].n == 3
    assert found.metrics["verbatim_perplexity"].n == 3


def test_a_probe_that_nobody_could_score_is_unmeasured(tmp_path: Path):
    data = fakes.measurements(canaries(2, 2, 2, 2), {"semantic": [Unscorable("c0", "no token")]})
    reasons = {gap.metric: gap.reason for gap in conditions(landscape(tmp_path, data))["none"].unmeasured}
    assert reasons["semantic_perplexity"] == "none of 1 could be scored in the probe semantic"
    assert reasons["held_out_perplexity"] == "the probe held_out was not measured"


def test_a_perplexity_beyond_all_numbers_is_unmeasured_not_infinite(tmp_path: Path):
    row = replace(fakes.row("verbatim", "c0", 2, multiplicity=1), log_likelihood=-5000.0, tokens=1)
    made = landscape(tmp_path, fakes.measurements([row]))
    assert "verbatim_perplexity" not in conditions(made)["none"].metrics
    json.dumps(TypeAdapter(Landscape).dump_python(made), allow_nan=False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tokenizer_hash": "beef"}, "tokenizer_hash"),
        ({"precision": "bfloat16"}, "precision"),
        ({"model": "other"}, "model"),
    ],
)
def test_other_circumstances_are_refused(tmp_path: Path, change: dict[str, str], words: str):
    with pytest.raises(ArtifactError, match=rf"m0 \(none\) and .*m1 \(direct\) differ in {words}"):
        landscape(tmp_path, fakes.measurements(canaries(2, 2, 2, 2)), trained(canaries(2, 2, 2, 2), **change))


def test_two_targets_may_differ_in_everything(tmp_path: Path):
    other = fakes.measurements(canaries(2, copies=(1,)), target="other", tokenizer_hash="beef")
    made = landscape(tmp_path, fakes.measurements(canaries(2, 2, 2, 2)), other)
    assert [target.name for target in made.targets] == ["other", "tiny"]


@pytest.mark.parametrize("rows", [canaries(2, 2, 2, copies=(1, 1, 64)), canaries(2, 2, 2, 2, copies=(1, 64, 64, 64))])
def test_other_canaries_are_refused(tmp_path: Path, rows: list[Row]):
    with pytest.raises(ArtifactError, match=r"m0 .*m1 .*different ids or multiplicities"):
        landscape(tmp_path, fakes.measurements(canaries(2, 2, 2, 2)), trained(rows))


def test_the_same_condition_twice_and_none_at_all_are_refused(tmp_path: Path):
    with pytest.raises(ArtifactError, match=r"m0 and .*m1 both measure tiny · none"):
        landscape(tmp_path, fakes.measurements(canaries(2, 2, 2, 2)), fakes.measurements(canaries(3, 3, 3, 3)))
    with pytest.raises(ArtifactError, match="at least one"):
        read_measurements([])


def test_evidence_follows_digests_from_adapter_to_first_corpus(tmp_path: Path):
    names = ("none", "scrub", "dp-8")
    measured = read_measurements(audit_fakes.laptop(tmp_path, names, exposure=False))
    judged = fakes.Evidence(schemas.JUDGEMENTS, "corpus-scrub", {}, {"privacy": 0.5}, component="judge")
    judgements = judged.store(tmp_path / "judgements")
    stray = fakes.Evidence(schemas.TRAINING_LOG, "x", {"adapter": "of another audit"}).store(tmp_path / "stray")
    found = read_evidence([*audit_fakes.laptop_evidence(tmp_path, names), stray, judgements])
    made = aggregate(measured, found, {}, FAST)
    by_name = conditions(made)
    scrub = by_name["scrub"].made
    assert [item.kind for item in scrub.evidence] == [
        "masks",
        "training log",
        "disclosures",
        "judgements",
        "judgements",
    ]
    assert scrub.corpora == ["corpus-plain", "corpus-scrub"]
    assert scrub.adapters == ["ada1"]
    assert scrub.measurements == measured[1].manifest.digest
    assert by_name["scrub"].training_seconds == 12.5
    assert by_name["dp-8"].privacy["epsilon"] == 7.98
    assert by_name["none"].made.evidence == []
    assert made.unused_evidence == [artifacts.read_manifest(stray).digest]


def test_losses_are_thinned_to_means_and_steps_without_one_left_out(tmp_path: Path):
    values = (None, *(float(step) for step in range(2, 1001)))
    [found] = read_evidence([fakes.Evidence(schemas.TRAINING_LOG, "x", {}, {}, values).store(tmp_path / "log")])
    assert found.losses[0] == (6, 4.0)
    assert len(found.losses) == 200
    assert found.losses[-1][0] == 1000


def test_what_is_no_evidence_is_refused(tmp_path: Path):
    path = fakes.store(tmp_path / "m", fakes.measurements(canaries(2, 2, 2, 2)))
    with pytest.raises(ArtifactError, match="evidence is a training log"):
        read_evidence([path])


def test_null_differences_are_rarely_significant(tmp_path: Path):
    """Two conditions that score the same canaries with independent noise: p below .05 about once in twenty."""
    low = 0
    for trial in range(30):
        rng = np.random.default_rng(trial)
        one, other = (canaries(*np.exp(rng.normal(3, 0.5, 20)), copies=(1, 16) * 10) for _ in range(2))
        made = landscape(
            tmp_path / str(trial), fakes.measurements(one), trained(other), settings=Settings(resamples=100)
        )
        low += conditions(made)["direct"].differences["none"]["verbatim_perplexity"].p < 0.05
    assert low <= 5  # 30 draws at .05: more than 5 with a chance of .003


def test_each_multiplicity_is_tested_and_corrected_over_all_conditions(tmp_path: Path):
    """Eight canaries to a multiplicity. All fall: p = 2 / 2^8; one pair rises by as much as another falls, the rest
    stay: 1. Four pairs of condition and multiplicity are tested: .0078125, .0078125, 1, 1 -> .03125, .03125, 1, 1."""
    copies = (1,) * 8 + (64,) * 8
    none = fakes.measurements(canaries(*[16] * 16, copies=copies))
    direct = trained(canaries(*[8, 32, *[16] * 6], *[4] * 8, copies=copies))
    other = trained(canaries(*[8] * 8, *[8, 32, *[16] * 6], copies=copies), "other")
    found = conditions(landscape(tmp_path, none, direct, other))
    groups = {
        (name, key): part
        for name in ("direct", "other")
        for key, part in found[name].differences["none"]["verbatim_perplexity"].by_multiplicity.items()
    }
    assert {pair: (part.p, part.p_holm) for pair, part in groups.items()} == {
        ("direct", "1"): (1, 1),
        ("direct", "64"): (2**-7, 2**-5),
        ("other", "1"): (2**-7, 2**-5),
        ("other", "64"): (1, 1),
    }
    assert groups["direct", "64"].value == pytest.approx(1 / 4)
