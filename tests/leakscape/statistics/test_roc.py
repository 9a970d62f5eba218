"""Curves, areas and rates against loops over pairs, scores by hand and the null."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.statistics.bootstrap import Floats
from leakscape.statistics.roc import area, detection, roc_curve, thinned

# Few distinct values, so that ties are common.
SCORES = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12).map(np.array)


def wins(member: float, other: float) -> float:
    return 1.0 if member > other else 0.5 if member == other else 0.0


@given(SCORES, SCORES)
def test_area_is_the_share_of_pairs_that_a_member_wins(members: Floats, others: Floats):
    pairs = [wins(member, other) for member in members for other in others]
    assert area(members, others).value == pytest.approx(sum(pairs) / len(pairs))


@given(SCORES, SCORES, st.sampled_from([np.exp, np.arctan, lambda scores: 3 * scores - 7, np.cbrt]))
def test_only_the_order_of_scores_counts(members: Floats, others: Floats, rising: Callable[[Floats], Floats]):
    assert area(rising(members), rising(others)) == area(members, others)
    assert area(-members, -others).value == pytest.approx(1 - area(members, others).value)


@given(SCORES, SCORES)
def test_curve_equals_a_loop_over_thresholds(members: Floats, others: Floats):
    curve = roc_curve(members, others)
    for false, true, threshold in zip(
        curve.false_positive_rates, curve.true_positive_rates, curve.thresholds, strict=True
    ):
        assert true == pytest.approx(sum(score >= threshold for score in members) / len(members))
        assert false == pytest.approx(sum(score >= threshold for score in others) / len(others))
    assert curve.thresholds[1:].tolist() == sorted({*members, *others}, reverse=True)
    assert (curve.false_positive_rates[0], curve.true_positive_rates[0], curve.thresholds[0]) == (0, 0, math.inf)
    assert (curve.false_positive_rates[-1], curve.true_positive_rates[-1]) == (1, 1)


@given(SCORES, SCORES)
def test_area_is_the_one_under_the_curve(members: Floats, others: Floats):
    curve = roc_curve(members, others)
    under = np.trapezoid(curve.true_positive_rates, curve.false_positive_rates)
    assert area(members, others).value == pytest.approx(under)


@given(SCORES, SCORES)
def test_sides_swapped_turn_the_area_round(members: Floats, others: Floats):
    one, other = area(members, others), area(others, members)
    assert one.value == pytest.approx(1 - other.value)
    if one.low is not None:
        assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


@given(SCORES, SCORES)
def test_the_interval_holds_the_area_and_stays_between_0_and_1(members: Floats, others: Floats):
    found = area(members, others)
    if min(members.size, others.size) < 2:
        assert (found.low, found.high) == (None, None)
    else:
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.low < found.high


def test_delong_by_hand():
    # Members 1, 3; others 0, 2. Shares won by members: 1/2, 1; by others' opponents: 1 (of 0), 1/2 (of 2). Area 3/4.
    # Variances .125 / 2 each, so the sum is .125; on the logit scale ln 3 -+ 1.96 * sqrt(.125) / (3/16).
    found = area(np.array([1.0, 3.0]), np.array([0.0, 2.0]))
    reach = 1.959964 * math.sqrt(0.125) / (0.75 * 0.25)
    assert found.value == 0.75
    assert found.low == pytest.approx(1 / (1 + math.exp(reach - math.log(3))), abs=1e-6)
    assert found.high == pytest.approx(1 / (1 + math.exp(-reach - math.log(3))), abs=1e-6)


@given(SCORES.filter(lambda s: s.size > 1), SCORES.filter(lambda s: s.size > 1))
def test_delong_variance_equals_its_definition(members: Floats, others: Floats):
    from leakscape.statistics.roc import _delong

    table = np.array([[wins(member, other) for other in others] for member in members])
    expected = np.var(table.mean(axis=1), ddof=1) / members.size + np.var(table.mean(axis=0), ddof=1) / others.size
    assert _delong(members, others)[1] == pytest.approx(expected, abs=1e-12)


def test_complete_separation_is_not_certain():
    found = area(np.arange(10.0, 20.0), np.arange(10.0))
    # 1 - x = 1.96 sqrt(x (1 - x) (1 + 9 (1-x)/(2-x) + 9 x/(1+x)) / 100).
    assert (found.value, found.high) == (1, 1)
    x = found.low
    inner = 1 + 9 * (1 - x) / (2 - x) + 9 * x / (1 + x)
    assert 1 - x == pytest.approx(1.959964 * math.sqrt(x * (1 - x) * inner / 100), abs=1e-5)
    assert 0.6 < x < 0.95


def test_on_random_scores_the_area_is_one_half_and_intervals_hold_it():
    rng = np.random.default_rng(11)
    drawn = [area(rng.standard_normal(60), rng.standard_normal(80)) for _ in range(600)]
    values = np.array([found.value for found in drawn])
    assert values.mean() == pytest.approx(0.5, abs=4 * values.std() / math.sqrt(600))
    covered = np.mean([found.low <= 0.5 <= found.high for found in drawn])
    assert covered == pytest.approx(0.95, abs=0.03)


@given(SCORES, SCORES, st.sampled_from([0.0, 0.001, 0.01, 0.1, 0.25, 0.5]))
def test_detection_takes_the_best_threshold_that_is_allowed(members: Floats, others: Floats, allowed: float):
    found = detection(members, others, allowed=allowed)
    rates = [
        (np.mean(members > threshold), np.mean(others > threshold))
        for threshold in (-math.inf, *members, *others)
        if np.mean(others > threshold) <= allowed + 1e-12
    ]
    # Thresholds between scores of others and members: none that is allowed finds more.
    assert found.value == pytest.approx(max(rate for rate, _ in rates))
    assert found.false_positive_rate <= allowed + 1e-12
    assert found.low <= found.value <= found.high


def test_detection_by_hand():
    others = np.arange(100.0)  # at 1 % one of them may pass: the bar is 98
    members = np.array([98.0, 98.5, 99.0, 120.0, 3.0])
    found = detection(members, others, allowed=0.01)
    assert (found.found, found.members, found.value, found.false_positive_rate) == (3, 5, 0.6, 0.01)
    assert (found.low, found.high) == pytest.approx((0.1466, 0.9473), abs=1e-4)  # Clopper-Pearson, 3 of 5
    assert found.resolved
    few = detection(members, others, allowed=0.001)
    assert (few.found, few.false_positive_rate, few.resolved) == (1, 0, False)


def test_tied_others_pass_together_or_not_at_all():
    others = np.array([5.0] * 3 + [0.0] * 97)  # one may pass, but three are tied
    found = detection(np.array([5.0, 6.0]), others, allowed=0.01)
    assert (found.found, found.false_positive_rate) == (1, 0)


def test_a_rate_that_is_whole_is_not_lost_to_rounding():
    others = np.arange(2_900.0)  # 0.01 * 2900 = 28.999999999999996
    assert detection(np.array([2_871.0]), others, allowed=0.01).false_positive_rate == 0.01


def test_thinning_keeps_ends_and_points_of_the_curve():
    rng = np.random.default_rng(0)
    curve = roc_curve(rng.standard_normal(500) + 1, rng.standard_normal(400))
    few = thinned(curve, 50)
    assert few.thresholds.size <= 50
    assert (few.false_positive_rates[0], few.true_positive_rates[0]) == (0, 0)
    assert (few.false_positive_rates[-1], few.true_positive_rates[-1]) == (1, 1)
    assert set(few.thresholds) <= set(curve.thresholds)
    under = np.trapezoid(few.true_positive_rates, few.false_positive_rates)
    assert under == pytest.approx(np.trapezoid(curve.true_positive_rates, curve.false_positive_rates), abs=0.01)
    assert thinned(few, 50) is few
    with pytest.raises(ValueError, match="two ends"):
        thinned(curve, 1)


@pytest.mark.parametrize("bad", [np.array([]), np.array([1.0, math.nan]), np.array([math.inf])])
def test_no_scores_and_no_numbers_are_refused(bad: Floats):
    good = np.array([1.0, 2.0])
    for function in (roc_curve, area):
        with pytest.raises(ValueError, match="finite"):
            function(bad, good)
        with pytest.raises(ValueError, match="finite"):
            function(good, bad)
    with pytest.raises(ValueError, match="rate"):
        detection(good, good, allowed=1)
