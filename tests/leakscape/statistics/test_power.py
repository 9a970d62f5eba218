import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.statistics.paired import sign_flip_test
from leakscape.statistics.power import (
    NULL_SD_BITS,
    canaries_needed,
    detectable_difference,
    largest_epsilon,
    most_if_none,
    null_exposure,
    resolves,
    smallest_p,
)


@pytest.mark.parametrize(("n", "bits"), [(20, 1.27), (50, 0.81), (100, 0.57), (200, 0.40)])
def test_reference_table(n: int, bits: float):
    assert detectable_difference(n) == pytest.approx(bits, abs=0.006)


# Cohen 1988 and G*Power, paired t test, two-sided .05, power .8: d 0.5 takes 34 pairs, d 0.8 takes 15, d 1 takes 10.
@pytest.mark.parametrize(("pairs", "effect"), [(34, 0.5), (15, 0.8), (10, 1.0)])
def test_paired_differences_by_student_s_t(pairs: int, effect: float):
    assert (
        detectable_difference(pairs, sd=1, paired=True) <= effect < detectable_difference(pairs - 1, sd=1, paired=True)
    )
    assert canaries_needed(effect, sd=1, paired=True) == pairs


def test_null_exposure_by_hand():
    """Two candidates: 1 bit or 0. Four: 2, 1, log2(4/3) and 0 bits, mean (3 + .41504) / 4."""
    assert null_exposure(2) == (0.5, 0.5)
    assert null_exposure(4)[0] == pytest.approx(0.85376, abs=1e-5)
    assert null_exposure(6301) == pytest.approx((1.4415, NULL_SD_BITS), abs=5e-4)
    with pytest.raises(ValueError, match="at least one other name"):
        null_exposure(1)


def test_canaries_needed_is_the_inverse():
    needed = canaries_needed(0.81)
    assert detectable_difference(needed) <= 0.81 < detectable_difference(needed - 1)
    # n = 2 (2.8016 * 1.437 / 1)^2 = 32.4, and 129.7 for half a bit.
    assert (canaries_needed(1.0), canaries_needed(0.5)) == (33, 130)


def test_power_is_had():
    """Simulated: 50 on each side, a difference of .81 bits, two-sided z test at .05: found in 80 %."""
    rng = np.random.default_rng(0)
    shift = detectable_difference(50)
    gaps = rng.normal(shift, NULL_SD_BITS, (4000, 50)).mean(1) - rng.normal(0, NULL_SD_BITS, (4000, 50)).mean(1)
    assert np.mean(np.abs(gaps) > 1.96 * NULL_SD_BITS * np.sqrt(2 / 50)) == pytest.approx(0.8, abs=0.03)


def test_the_sign_flip_test_has_the_power_that_is_claimed():
    """The test that landscapes run, at its exact form: 12 pairs, 1,500 simulations, standard error of .8 is .0103."""
    shift = detectable_difference(12, sd=1, paired=True)
    drawn = np.random.default_rng(1).normal(shift, 1, (1500, 12))
    assert np.mean(sign_flip_test(drawn) <= 0.05) == pytest.approx(0.8, abs=0.035)


def test_what_no_result_can_show():
    """Four pairs have 16 sign patterns, of which two are as extreme as the most extreme: p is at least .125."""
    assert [smallest_p(n) for n in (1, 4, 5, 6, 13)] == [1, 0.125, 0.0625, 0.03125, 2**-12]
    assert smallest_p(14) == 1e-4
    assert smallest_p(6) == sign_flip_test(np.ones((1, 6)))[0]
    assert detectable_difference(5, paired=True) == math.inf
    assert detectable_difference(6, paired=True, alpha=0.01) == math.inf
    assert detectable_difference(6, paired=True) < math.inf


def test_none_of_some():
    """1 - .025^(1/n)."""
    assert most_if_none(20) == pytest.approx(0.168, abs=5e-4)
    assert most_if_none(100) == pytest.approx(0.036, abs=5e-4)
    assert most_if_none(20) == pytest.approx(1 - 0.025 ** (1 / 20))


def test_what_coins_can_show():
    """Steinke et al. 2023, delta 1e-5: 200 canaries, 100 guesses, all right -> 3.49; 1,000 and 500 -> 5.09."""
    assert largest_epsilon(200, delta=1e-5) == pytest.approx(3.49, abs=0.006)
    assert largest_epsilon(1000, delta=1e-5) == pytest.approx(5.09, abs=0.006)


def test_false_positive_rates_that_are_resolved():
    assert [resolves(n, 0.01) for n in (99, 100, 2900)] == [False, True, True]
    assert [resolves(n, 0.001) for n in (999, 1000)] == [False, True]


@given(st.integers(1, 3000), st.integers(1, 3000), st.booleans())
def test_more_canaries_find_smaller_differences(one: int, other: int, paired: bool):
    few, many = sorted((one, other))
    found = [detectable_difference(n, paired=paired, alpha=0.01) for n in (few, many)]
    assert found[0] > found[1] or few == many or found == [math.inf, math.inf]


@given(st.floats(0.02, 5), st.booleans())
def test_one_canary_less_would_not_do(bits: float, paired: bool):
    needed = canaries_needed(bits, paired=paired)
    assert detectable_difference(needed, paired=paired) <= bits
    assert needed == 1 or detectable_difference(needed - 1, paired=paired) > bits


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="at least one canary"):
        detectable_difference(0)
    with pytest.raises(ValueError, match="nothing"):
        canaries_needed(0)
    with pytest.raises(ValueError, match="a million"):
        canaries_needed(1e-4)
    with pytest.raises(ValueError, match="one pair"):
        smallest_p(0)
