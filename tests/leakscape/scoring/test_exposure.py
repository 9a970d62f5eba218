"""Exposure against hand values, a null test, and the library's own distribution functions."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, skewnorm

from leakscape.scoring.exposure import CEILING_BITS, exposure, extrapolated_exposure, mean_rank

VALUES = st.lists(st.sampled_from([-3.0, -2.0, -1.0, 0.0]), min_size=1, max_size=20)


def test_all_equal_is_the_middle_rank_and_one_bit():
    rank = mean_rank(-5.0, [-5.0] * 6300)
    assert rank == 3151
    assert exposure(rank, 6301) == pytest.approx(1.0, abs=3e-4)


@pytest.mark.parametrize(
    ("secret", "others", "rank"),
    [(-1.0, [-2.0, -3.0], 1), (-4.0, [-2.0, -3.0], 3), (-2.0, [-2.0, -3.0, -1.0], 2.5), (-1.0, [], 1)],
)
def test_ranks_by_hand(secret: float, others: list[float], rank: float):
    assert mean_rank(secret, others) == rank


@given(VALUES, st.randoms(use_true_random=False))
def test_ranks_do_not_depend_on_order_and_add_up(values: list[float], random: Random):
    ranks = [mean_rank(value, values[:place] + values[place + 1 :]) for place, value in enumerate(values)]
    assert sum(ranks) == pytest.approx(len(values) * (len(values) + 1) / 2)
    shuffled = random.sample(values[1:], len(values) - 1)
    assert mean_rank(values[0], shuffled) == ranks[0]


def test_the_range_of_exposure():
    assert exposure(1, 6301) == pytest.approx(12.62, abs=0.005)
    assert exposure(6301, 6301) == 0
    for rank in (0.5, 6302, math.nan):
        with pytest.raises(ValueError, match="rank"):
            exposure(rank, 6301)


def test_nan_has_no_rank():
    for secret, others in ((math.nan, [1.0]), (1.0, [math.nan])):
        with pytest.raises(ValueError, match="numbers"):
            mean_rank(secret, others)


def test_random_scores_average_what_uniform_ranks_do():
    # Exact over the ranks 1..6301: mean 1.4417 bits, s.d. 1.437 (paper 000 reports 1.49 and 1.39 untouched).
    bits = np.log2(6301 / np.arange(1, 6302))
    assert (bits.mean(), bits.std()) == pytest.approx((1.4417, 1.437), abs=2e-3)
    generator = np.random.default_rng(7)
    drawn = [exposure(mean_rank(generator.normal(), generator.normal(size=6300)), 6301) for _ in range(600)]
    assert np.mean(drawn) == pytest.approx(1.4417, abs=4 * 1.437 / math.sqrt(600))
    assert np.std(drawn) == pytest.approx(1.437, abs=0.2)


def test_extrapolation_reads_the_tail_of_the_distribution_that_made_the_references():
    # References that are exact quantiles of a skew normal: the fit must find it again.
    shape, centre, scale = 2.0, 20.0, 3.0
    perplexities = skewnorm.ppf((np.arange(2000) + 0.5) / 2000, shape, centre, scale)
    for secret in (26.0, 21.0, 18.0, 17.0):
        fitted = extrapolated_exposure(-secret, -perplexities)
        assert fitted.flag == ""
        assert fitted.bits == pytest.approx(-skewnorm.logcdf(secret, shape, centre, scale) / math.log(2), rel=0.05)


def test_extrapolation_passes_the_ranks_ceiling_and_is_clipped_in_the_end():
    perplexities = norm.ppf((np.arange(300) + 0.5) / 300, 20, 1)
    far = extrapolated_exposure(-13.0, -perplexities)
    assert math.log2(301) < float(far.bits or 0) < CEILING_BITS
    beyond = extrapolated_exposure(0.0, -perplexities)
    assert (beyond.bits, beyond.flag) == (CEILING_BITS, "clipped")
    assert extrapolated_exposure(-1e6, -perplexities).bits == 0


def test_null_extrapolated_exposure_averages_one_over_log_two():
    # -log2 of a uniform number has mean 1 / ln 2 = 1.4427 and as large a standard deviation.
    generator = np.random.default_rng(3)
    references = generator.normal(-20, 3, size=1000)
    bits = [float(extrapolated_exposure(secret, references).bits or 0) for secret in generator.normal(-20, 3, size=60)]
    assert np.mean(bits) == pytest.approx(1.4427, abs=4 * 1.4427 / math.sqrt(60))


def test_where_there_is_no_fit_the_reason_is_given():
    assert extrapolated_exposure(-1.0, [-2.0] * 29).flag == "too few references"
    assert extrapolated_exposure(-1.0, [-2.0] * 50).flag == "references all equal"
    assert extrapolated_exposure(-1.0, [-2.0] * 50).bits is None
    for secret, references in ((math.nan, [1.0] * 50), (1.0, [math.inf] * 50)):
        with pytest.raises(ValueError, match="finite"):
            extrapolated_exposure(secret, references)
