"""The null tests pass, and each of them fails where the figure that it is about is broken."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from leakscape.scoring.exposure import mean_rank
from leakscape.statistics import null
from leakscape.statistics.binomial import share_interval
from leakscape.statistics.bootstrap import Floats
from leakscape.statistics.null_outcome import NullTest, Rule
from leakscape.statistics.paired import sign_flip_test
from leakscape.statistics.roc import area, detection

DRAWS = 200


def test_the_figures_find_nothing_where_there_is_nothing():
    found = list(null.null_tests(DRAWS, 0))
    assert [test for test in found if not test.passed] == []
    assert len({test.name for test in found}) == len(found) == len(null.TESTS)


def test_equal_seeds_give_equal_outcomes_and_others_do_not():
    assert null.exposure_mean(100, 3) == null.exposure_mean(100, 3)
    assert null.exposure_mean(100, 3).observed != null.exposure_mean(100, 4).observed


def one_too_good(secret: float, others: Floats) -> float:
    """A rank by a secret that is known a little: half a standard deviation above the others."""
    return mean_rank(secret + 0.5, others)


def best_of_ties(secret: float, others: Floats) -> float:
    return 1.0 + np.count_nonzero(others > secret)


def in_the_middle(secret: float, others: Floats) -> float:
    """Half of the ranks: no secret stands out or falls behind."""
    return mean_rank(secret, others) / 2 + others.size / 4


def leaning_area(members: Floats, others: Floats) -> tuple[float, float, float]:
    found = area(members + 0.1, others)
    return found.value, found.low or 0, found.high or 1


def narrow_area(members: Floats, others: Floats) -> tuple[float, float, float]:
    value = area(members, others).value
    return value, value - 0.05, value + 0.05


def low_threshold(members: Floats, others: Floats) -> float:
    return detection(members, others, allowed=0.02).value


def best_of_two_guessers(scores: Floats, coins: NDArray[np.bool_]) -> float:
    """The better of an attack and its opposite, chosen after the look that voids the bound."""
    return max(null._bound(scores, coins), null._bound(-scores, coins))


def one_sided(differences: Floats) -> Floats:
    return sign_flip_test(differences) / 2


def one_sided_shares(left: Floats, right: Floats) -> tuple[float, float, float]:
    p, low, high = null._mcnemar(left, right)
    return p / 4, low, high


def narrow_shares(left: Floats, right: Floats) -> tuple[float, float, float]:
    difference = float(np.mean(left) - np.mean(right))
    return 1.0, difference - 0.1, difference + 0.1


def uncorrected(p_values: Floats) -> Floats:
    return p_values


def deviation_for_error(values: Floats, _seed: int) -> tuple[float, float]:
    """A normal interval with the deviation's half for the mean's error: too narrow at 20, right at none."""
    reach = values.std() / math.sqrt(values.size)
    return float(values.mean() - reach), float(values.mean() + reach)


def quarter_as_large(left: Floats, right: Floats, seed: int) -> float:
    return null._spearman(left, right, seed) / 4


def wald(part: int, whole: int) -> tuple[float, float]:
    """The textbook's interval, whose width is 0 at 0 and at all."""
    share = part / whole
    reach = 1.96 * math.sqrt(share * (1 - share) / whole)
    return share - reach, share + reach


@pytest.mark.parametrize(
    "found",
    [
        lambda: null.exposure_mean(1000, 0, rank=one_too_good),
        lambda: null.exposure_deviation(1000, 0, rank=in_the_middle),
        lambda: null.exposure_ties(1, 0, rank=best_of_ties),
        lambda: null.area_mean(DRAWS, 0, of=leaning_area),
        lambda: null.area_coverage(DRAWS, 0, of=narrow_area),
        lambda: null.detected_share(DRAWS, 0, of=low_threshold),
        lambda: null.epsilon_bound(1000, 0, bound=best_of_two_guessers),
        lambda: null.sign_flips(2000, 0, test=one_sided),
        lambda: null.share_test(DRAWS, 0, of=one_sided_shares),
        lambda: null.share_coverage(DRAWS, 0, of=narrow_shares),
        lambda: null.holm_family(DRAWS, 0, correct=uncorrected),
        lambda: null.paired_coverage(DRAWS, 0, ends=deviation_for_error),
        lambda: null.mean_coverage(DRAWS, 0, ends=deviation_for_error),
        lambda: null.rank_correlation(DRAWS, 0, p_of=quarter_as_large),
        lambda: null.rank_correlation(DRAWS, 0, at=0.5, p_of=quarter_as_large),
        lambda: null.exact_coverage(1, 0, ends=wald),
    ],
)
def test_a_broken_figure_fails(found: Callable[[], NullTest]):
    outcome = found()
    assert not outcome.passed, outcome


def test_a_figure_that_is_no_number_fails():
    assert not null.exposure_mean(100, 0, rank=lambda *_: 1.0).passed
    for rule in ("equal", "at most", "at least"):
        assert not NullTest(name="a", expected=0.5, observed=math.nan, error=0.1, rule=rule, draws=1).passed


@pytest.mark.parametrize(
    ("rule", "low", "high"), [("equal", False, False), ("at most", True, False), ("at least", False, True)]
)
def test_rules_by_hand(rule: Rule, low: bool, high: bool):
    """Four errors of .01 and an allowance of .01 around .5: .45 to .55 is near enough."""
    outcomes = [
        NullTest(name="a", expected=0.5, observed=value, error=0.01, allowance=0.01, rule=rule, draws=1).passed
        for value in (0.44, 0.46, 0.54, 0.56)
    ]
    assert outcomes == [low, True, True, high]


def test_least_coverage_by_hand():
    """Of one trial the 95 % interval is 0 to .975 or .025 to 1: at a share of .5 both hold it."""
    assert share_interval(0, 1) == pytest.approx((0, 0.975))
    assert null.exact_coverage(1, 0).observed >= 0.95
