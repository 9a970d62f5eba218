"""Attacks, extraction and bounds of a condition: by hand, and each figure there or with its reason."""

from dataclasses import replace
from pathlib import Path

import audit_fakes
import landscape_fakes as fakes
import numpy as np
import pytest

from leakscape import schemas
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.attacks import FLAT, attacked, extracted
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import Condition, Landscape
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.scoring.attack_rows import AttackRow, ExtractionRow

FAST = Settings(resamples=200)


def on_records(attack: str, members: list[float], others: list[float]) -> list[AttackRow]:
    sides = [(True, members), (False, others)]
    return [
        AttackRow(attack=attack, id=f"{member}-{n}", kind="record", member=member, multiplicity=None, score=score)
        for member, scores in sides
        for n, score in enumerate(scores)
    ]


def on_canaries(attack: str, scores: dict[int, list[float]]) -> list[AttackRow]:
    return [
        AttackRow(
            attack=attack, id=f"c{copies}-{n}", kind="canary", member=copies > 0, multiplicity=copies, score=score
        )
        for copies, several in scores.items()
        for n, score in enumerate(several)
    ]


def told(canary: str, copies: int, *hits: tuple[bool, bool]) -> list[ExtractionRow]:
    return [
        ExtractionRow(id=canary, multiplicity=copies, number=n, tokens=3, exact=exact, near=near, similarity=0.5)
        for n, (exact, near) in enumerate(hits)
    ]


def landscape(
    folder: Path, rows: list[AttackRow], extractions: list[ExtractionRow], *, name: str = "none"
) -> Landscape:
    scores = [fakes.row("verbatim", "c1", 4, multiplicity=1)]
    adapters = () if name == "none" else (f"ada-{name}",)
    path = fakes.store(folder / name, fakes.measurements(scores, condition=name, adapters=adapters), rows, extractions)
    return aggregate(read_measurements([path]), [], {}, FAST)


def only(made: Landscape) -> Condition:
    return made.targets[0].conditions[0]


def test_areas_by_hand_and_flat_figures_of_the_attack_named_in_advance():
    """Members 3, 2, 1 against 0 and 2.5: four of six pairs are in order. The other attack has all six."""
    rows = on_records("loss", [3, 2, 1], [0, -1]) + on_records("min_k_plus_plus", [3, 2, 1], [0, 2.5])
    found = attacked(rows, delta=1e-5, confidence=0.95)
    assert [(item.attack, item.primary, item.members, item.auc.value) for item in found.attacks] == [
        ("loss", False, "record", 1.0),
        ("min_k_plus_plus", True, "record", pytest.approx(4 / 6)),
    ]
    assert (found.figures["membership_auc"].value, found.figures["membership_auc"].n) == (pytest.approx(4 / 6), 3)
    assert found.attacks[0].curve[0] == (0, 0)
    assert found.attacks[0].curve[-1] == (1, 1)
    assert found.attacks[1].others_count == 2


def test_too_few_others_give_no_rate_but_the_attack_says_what_was_found():
    """Of 100 others one may pass: members above the second highest (98) are 99 and 150. Of 0.1 % none may."""
    rows = on_records("loss", [150, 99, 97, 5], [float(n) for n in range(100)])
    found = attacked(rows, delta=1e-5, confidence=0.95)
    assert found.figures["membership_tpr_at_1_percent"].value == 0.5
    assert "membership_tpr_at_0_1_percent" not in found.figures
    assert found.gaps["membership_tpr_at_0_1_percent"].startswith("100 records that were not trained on are too few")
    assert [(rate.allowed, rate.resolved, rate.value) for rate in found.attacks[0].detected] == [
        (0.01, True, 0.5),
        (0.001, False, 0.25),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        on_records("loss", [1, 2], [0, 3]),
        on_canaries("loss", {1: [1, 2], 0: [0]}),
        on_canaries("loss", {1: [1, 2]}),
        on_records("zlib", [1, 2], [0, 3]),
    ],
)
def test_each_flat_figure_is_there_or_has_a_reason(rows: list[AttackRow]):
    found = attacked(rows, delta=1e-5, confidence=0.95)
    assert {*found.figures, *found.gaps} == set(FLAT)
    assert not {*found.figures} & {*found.gaps}
    assert all(found.gaps.values())


def test_canaries_are_told_by_multiplicity_against_those_left_out():
    """Left out: 0 and 2. Once: 1 (half of the pairs); 64 times: 5 (all). Together 3 of 4."""
    found = attacked(on_canaries("reference", {0: [0, 2], 1: [1], 64: [5]}), delta=1e-5, confidence=0.95)
    figure = found.figures["canary_membership_auc"]
    assert figure.value == 0.75
    assert {copies: part.value for copies, part in figure.by_multiplicity.items()} == {"1": 0.5, "64": 1.0}
    assert found.attacks[0].others == "canary"


@pytest.mark.parametrize(("delta", "bound"), [(1e-5, 3.49), (0.0, 3.493)])
def test_coins_bound_epsilon_from_below_and_leave_it_open_above(delta: float, bound: float):
    """100 of 200 canaries guessed, all right: 3.49 at delta 1e-5 (a check value); at delta 0, q^100 = .05."""
    rows = on_canaries("loss", {1: [10.0 + n for n in range(100)], 0: [float(-n) for n in range(100)]})
    found = attacked(rows, delta=delta, confidence=0.95)
    assert found.bound is not None
    assert (found.bound.epsilon, found.bound.right, found.bound.guesses) == (pytest.approx(bound, abs=0.01), 100, 100)
    figure = found.figures["epsilon_lower_bound"]
    assert (figure.low, figure.high, figure.n) == (figure.value, None, 200)
    assert found.bound.copies == [1]


def test_extraction_by_hand_with_pairs_and_what_a_coin_left_out(tmp_path: Path):
    """Greedy: a of a, b; sampled: both. Left out: one that was guessed nearly."""
    rows = [
        *told("a", 1, (True, True), (False, True)),
        *told("b", 64, (False, False), (True, True)),
        *told("z", 0, (False, True), (False, False)),
    ]
    found = {item.way: item for item in extracted(rows, confidence=0.95)}
    shares = {
        way: (item.planted.value, item.left_out.value) for way, item in found.items() if item.planted and item.left_out
    }
    assert shares == {
        "greedy_exact": (0.5, 0),
        "greedy_near": (0.5, 1),
        "sampled_exact": (0.5, 0),
        "sampled_near": (1, 0),
    }
    metrics = only(landscape(tmp_path, [], rows)).metrics
    rate = metrics["extraction_rate"]
    assert (rate.value, rate.n) == (0.5, 2)
    assert (rate.low, rate.high) == pytest.approx((0.0126, 0.9874), abs=1e-3)  # Clopper-Pearson of 1 in 2
    assert {copies: part.value for copies, part in rate.by_multiplicity.items()} == {"0": 0, "1": 1, "64": 0}
    assert metrics["near_extraction_rate"].by_multiplicity["0"].value == 1


def test_greedy_alone_leaves_sampling_unmeasured(tmp_path: Path):
    item = only(landscape(tmp_path, [], told("a", 1, (True, True))))
    assert [found.way for found in item.extraction] == ["greedy_exact", "greedy_near"]
    reasons = {gap.metric: gap.reason for gap in item.unmeasured}
    assert reasons["sampled_extraction_rate"] == "no continuation was drawn"
    assert "extraction_rate" in item.metrics


def test_extraction_rates_are_paired_by_canary(tmp_path: Path):
    """Ten canaries: direct extracts eight that the untouched model does not, and loses none: McNemar 2 / 2^8."""
    scores = [fakes.row("verbatim", f"c{n}", 4, multiplicity=1) for n in range(10)]
    paths = []
    for name, taken in (("none", 1), ("direct", 9)):
        rows = [row for n in range(10) for row in told(f"c{n}", 1, (n < taken, n < taken))]
        adapters = () if name == "none" else ("ada",)
        data = fakes.measurements(scores, condition=name, adapters=adapters)
        paths.append(fakes.store(tmp_path / name, data, (), rows))
    made = aggregate(read_measurements(paths), [], {}, FAST)
    found = made.targets[0].conditions[0].differences["none"]["extraction_rate"]
    assert (found.value, found.n, found.scale) == (pytest.approx(0.8), 10, "difference")
    assert found.p == pytest.approx(2**-7)
    assert found.low is not None
    assert found.low > 0


def test_a_private_training_names_the_delta(tmp_path: Path):
    names = ("none", "dp-8")
    paths = audit_fakes.laptop(tmp_path, names, coins=True)
    log = fakes.Evidence(schemas.TRAINING_LOG, "x", {"adapter": "ada1"}, {"privacy": {"delta": 1e-3, "epsilon": 8}})
    found = read_evidence([log.store(tmp_path / "log")])
    made = aggregate(read_measurements(paths), found, {}, replace(FAST, delta=1e-6))
    bounds = {item.name: item.epsilon_bound for item in made.targets[0].conditions}
    assert {name: bound.delta for name, bound in bounds.items() if bound} == {"none": 1e-6, "dp-8": 1e-3}


def test_canaries_left_out_stand_by_themselves(tmp_path: Path):
    """Two planted canaries of perplexity 4 beside two left out of perplexity 100: over all it is 4."""
    rows = [fakes.row("verbatim", f"c{n}", 4 if n < 2 else 100, multiplicity=int(n < 2)) for n in range(4)]
    none = fakes.measurements(rows)
    halved = [replace(row, log_likelihood=row.log_likelihood / 2) if n < 2 else row for n, row in enumerate(rows)]
    direct = fakes.measurements(halved, condition="direct", adapters=("ada",))
    paths = [fakes.store(tmp_path / "0", none), fakes.store(tmp_path / "1", direct)]
    target = aggregate(read_measurements(paths), [], {}, FAST).targets[0]
    one, other = target.conditions
    assert (one.name, other.name) == ("direct", "none")
    whole = other.metrics["verbatim_perplexity"]
    assert (whole.value, whole.n) == (pytest.approx(4), 2)
    assert whole.by_multiplicity["0"].value == pytest.approx(100)
    found = one.differences["none"]["verbatim_perplexity"]
    assert (found.value, found.n) == (pytest.approx(0.5), 2)
    assert found.by_multiplicity["0"].p_holm == 1


def test_random_scores_show_nothing():
    """Null: areas centre on one half, and at most 5 % of bounds are above 0."""
    areas, shown = [], 0
    for trial in range(200):
        rng = np.random.default_rng(trial)
        rows = on_canaries("loss", {1: rng.normal(size=40).tolist(), 0: rng.normal(size=40).tolist()})
        found = attacked(rows, delta=1e-5, confidence=0.95)
        areas.append(found.figures["canary_membership_auc"].value)
        shown += found.figures["epsilon_lower_bound"].value > 0
    assert np.mean(areas) == pytest.approx(0.5, abs=4 * 0.065 / 200**0.5)  # standard error of one area: .065
    assert shown <= 20  # of 200 at .05: more than 20 with a chance of .001
