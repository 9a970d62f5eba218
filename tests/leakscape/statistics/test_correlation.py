"""Rank correlations against figures by hand, against scipy and by their null."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from leakscape.statistics.bootstrap import Floats
from leakscape.statistics.correlation import percentiles, replicated, spearman


def pairs(least: int) -> st.SearchStrategy[tuple[Floats, Floats]]:
    values = st.integers(-4, 4).map(float)
    return st.lists(st.tuples(values, values), min_size=least, max_size=9).map(
        lambda rows: (np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))
    )


def test_by_hand():
    # Ranks 1 2 3 4 5 against 2 1 4 3 5: d^2 = 1 1 1 1 0, so rho = 1 - 6 * 4 / (5 * 24) = 0.8.
    found = spearman(np.array([10.0, 20, 30, 40, 50]), np.array([2.0, 1, 4, 3, 5]), resamples=200, seed=0)
    assert found.value == pytest.approx(0.8)
    # Of the 120 orders 8 have a rho of .8 or more (sum of d^2 at most 4: 1 + 4 + 3), as many of -.8 or less.
    assert found.p == pytest.approx(16 / 120)
    assert found.n == 5


@given(pairs(3))
def test_value_equals_scipy(sides: tuple[Floats, Floats]):
    left, right = sides
    found = spearman(left, right, resamples=50, seed=1)
    if np.ptp(left) == 0 or np.ptp(right) == 0:
        assert found is None
    else:
        assert found.value == pytest.approx(spearmanr(left, right).statistic, abs=1e-12)
        assert 0 < found.p <= 1
        if found.low is not None:
            assert -1 <= found.low <= found.high <= 1


def test_a_perfect_order_has_a_p_and_no_interval():
    found = spearman(np.arange(6.0), -np.arange(6.0), resamples=100, seed=0)
    assert (found.value, found.low, found.high) == (-1, None, None)
    assert found.p == pytest.approx(2 / math.factorial(6))


def test_few_pairs():
    assert spearman(np.array([1.0, 2]), np.array([1.0, 2]), resamples=100, seed=0) is None
    three = spearman(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), resamples=100, seed=0)
    assert (three.value, three.low, three.p) == (pytest.approx(0.5), None, 1.0)


def test_a_condition_without_a_figure_is_left_out():
    left = np.array([1.0, 2, math.nan, 4, 5, 6])
    right = np.array([1.0, 3, 9, 2, math.nan, 5])
    found = spearman(left, right, resamples=100, seed=0)
    assert found.n == 4
    assert found.value == pytest.approx(spearmanr([1, 2, 4, 6], [1, 3, 2, 5]).statistic)


def test_under_the_null_p_below_5_percent_comes_in_5_percent():
    rng = np.random.default_rng(5)
    found = [spearman(rng.random(7), rng.random(7), resamples=20, seed=1).p for _ in range(250)]
    assert np.mean(np.array(found) <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 250)
    many = [spearman(rng.random(12), rng.random(12), resamples=20, seed=1).p for _ in range(60)]
    assert np.mean(many) == pytest.approx(0.5, abs=4 * math.sqrt(1 / 12 / 60))


def test_the_interval_narrows_with_more_pairs_and_is_seeded():
    rng = np.random.default_rng(2)
    left = rng.random(200)
    right = left + rng.normal(0, 0.3, 200)
    few = spearman(left[:12], right[:12], resamples=500, seed=3)
    many = spearman(left, right, resamples=500, seed=3)
    assert many.high - many.low < few.high - few.low
    assert many.low < many.value < many.high
    assert many == spearman(left, right, resamples=500, seed=3)


def test_replicates_are_correlated_one_by_one():
    left = np.array([[1.0, 1, 2], [2, 3, 2], [3, 2, 2]])
    right = np.array([[1.0, 1, 1], [2, 2, 2], [3, 3, 3]])
    found = replicated(left, right)
    assert found[:2] == pytest.approx([1, 0.5])
    assert math.isnan(found[2])
    assert percentiles(found, confidence=0.5) == pytest.approx((0.625, 0.875))
    assert percentiles(np.array([math.nan])) is None


def test_sides_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="pairs"):
        spearman(np.arange(3.0), np.arange(4.0), resamples=10, seed=0)
