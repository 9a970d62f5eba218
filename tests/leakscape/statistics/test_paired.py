import itertools
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakscape.statistics.paired import PairedDifference, holm, paired_difference, paired_shares, sign_flip_test


def test_exact_test_by_hand():
    """Of the eight sign patterns of (1, 2, 3) only the two that all agree reach |6|."""
    assert sign_flip_test(np.array([[1.0, 2.0, 3.0]])) == pytest.approx([0.25])
    assert sign_flip_test(np.array([[1.0, 2.0, -3.0]])) == pytest.approx([1.0])


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
@settings(max_examples=50)
def test_exact_test_against_a_loop(values: list[int]):
    signs = itertools.product((1, -1), repeat=len(values))
    sums = [abs(sum(s * v for s, v in zip(pattern, values, strict=True))) for pattern in signs]
    expected = sum(total >= abs(sum(values)) for total in sums) / len(sums)
    assert sign_flip_test(np.array([values], dtype=float)) == pytest.approx([expected])


def test_random_flips_agree_with_all_flips():
    values = np.random.default_rng(5).normal(0.4, 1, size=(1, 16))
    patterns = np.array(list(itertools.product((1.0, -1.0), repeat=16)))
    exact = np.mean(np.abs(patterns @ values[0]) >= abs(values.sum()) - 1e-9)
    assert sign_flip_test(values, flips=20_000, seed=1) == pytest.approx([exact], abs=0.012)


def test_p_is_never_zero():
    assert sign_flip_test(np.ones((1, 100)), flips=999) == pytest.approx([1 / 1000])


@pytest.mark.parametrize("size", [10, 40])
def test_null_rejects_in_five_percent(size: int):
    """2,000 draws without a difference, skewed pairs: the share below .05 is .05 within three standard errors."""
    rng = np.random.default_rng(2)
    differences = rng.lognormal(0, 1, (2000, size)) - rng.lognormal(0, 1, (2000, size))
    rejected = np.mean(sign_flip_test(differences, flips=1999, seed=3) <= 0.05)
    assert rejected == pytest.approx(0.05, abs=0.015)


def test_paired_difference_sees_what_pairs_share():
    """The canaries differ by far more than the conditions do; paired, the difference of 0.5 is plain."""
    rng = np.random.default_rng(0)
    hard = rng.normal(0, 10, 40)
    found = paired_difference(hard + 0.5 + rng.normal(0, 0.1, 40) - hard, resamples=1000, seed=0)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert 0.4 < found.low < found.value < found.high < 0.6
    assert found.p < 0.001
    assert found.n == 40


def test_a_pair_without_a_side_is_left_out():
    found = paired_difference(np.array([1.0, np.nan, 3.0]), resamples=100, seed=0)
    assert found is not None
    assert (found.value, found.n, found.p) == (2.0, 2, 0.5)
    assert paired_difference(np.array([np.nan]), resamples=100, seed=0) is None


def test_holm_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert holm(np.array([0.5, 0.9])) == pytest.approx([1.0, 1.0])
    assert holm(np.array([])).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm_never_lowers_a_p_and_keeps_their_order(values: list[float]):
    p = np.array(values)
    adjusted = holm(p)
    assert np.all(adjusted >= p)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.data())
def test_a_larger_p_never_makes_another_condition_more_significant(values: list[float], data: st.DataObject):
    raised = np.array(values)
    place = data.draw(st.integers(0, len(values) - 1))
    raised[place] = data.draw(st.floats(float(raised[place]), 1))
    assert np.all(holm(raised) >= holm(np.array(values)) - 1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_holm_does_not_depend_on_the_order_of_conditions(values: list[float], random: Random):
    order = list(range(len(values)))
    random.shuffle(order)
    assert holm(np.array(values)[order]) == pytest.approx(holm(np.array(values))[order])


def shares(common: int, more: int, fewer: int, neither: int) -> PairedDifference:
    left = [1] * (common + more) + [0] * (fewer + neither)
    right = [1] * common + [0] * more + [1] * fewer + [0] * neither
    found = paired_shares(np.array(left, float), np.array(right, float))
    assert found is not None
    return found


def test_paired_shares_against_newcombes_example():
    """Newcombe 1998: 36, 12, 2, 0 of 50 gives 0.2000 with 0.0569 to 0.3404 by method 10."""
    found = shares(36, 12, 2, 0)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0569, 0.3404), abs=5e-5)
    # McNemar: 12 against 2 of 14 coins, both tails: 2 * (1 + 14 + 91) / 2^14.
    assert found.p == pytest.approx(2 * 106 / 2**14)


def test_shares_that_are_both_none_have_a_width():
    """Wilson's upper end of 0 in 20 is 3.84 / 23.84 = 0.161."""
    found = shares(0, 0, 0, 20)
    assert (found.value, found.p) == (0, 1)
    assert (found.low, found.high) == pytest.approx((-0.1611, 0.1611), abs=1e-4)


def test_mcnemar_equals_the_sign_flip_test():
    differences = np.array([[1.0] * 9 + [-1.0] * 3])
    assert shares(5, 9, 3, 4).p == pytest.approx(float(sign_flip_test(differences)[0]))


def test_missing_pairs_are_left_out():
    found = paired_shares(np.array([1, np.nan, 0]), np.array([0, 1, np.nan]))
    assert found is not None
    assert (found.n, found.value) == (1, 1)
    assert paired_shares(np.array([np.nan]), np.array([1.0])) is None


def test_paired_shares_cover_a_true_difference():
    """Shares .3 and .15 from one uniform draw a pair, 25 pairs: a nominal 95 % covers .15 in 93 to 99 % of 1,000."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        own, common = rng.random(25), rng.random(25)
        left = np.where(rng.random(25) < 0.5, own, common) < 0.3
        found = paired_shares(left.astype(float), (common < 0.15).astype(float))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.15 <= found.high
    assert 930 <= held <= 990
