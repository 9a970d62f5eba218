"""Null tests: what every figure shows where there is nothing to find.

Each test draws scores that hold nothing, puts them through the functions that landscapes use, and holds the outcome
against what theory says. A figure that finds something here would find it in any model. All draws come from a seed.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from leakscape.scoring.exposure import exposure, mean_rank
from leakscape.statistics.binomial import share_interval
from leakscape.statistics.bootstrap import Floats, interval, of_values, replicates
from leakscape.statistics.correlation import spearman
from leakscape.statistics.null_outcome import NullTest, rng_of, share
from leakscape.statistics.one_run import audit
from leakscape.statistics.paired import holm, paired_shares, sign_flip_test
from leakscape.statistics.power import null_exposure
from leakscape.statistics.roc import area, detection

CANDIDATES = 6301
LEVEL = 0.05
DRAWS = 1000

_RESAMPLES = 1000
_MEMBERS, _OTHERS = 200, 1000
_FEW, _MANY = 12, 20  # pairs below and above the sign-flip test's limit for all patterns
_HOLM_TESTS = 8
_COMMON = 0.3  # the chance that a canary is told, the same on both sides
_CONDITIONS = 7
_DELTA = 1e-5


def _ranks(count: int, rng: np.random.Generator, rank: Callable[[float, Floats], float]) -> Floats:
    """Exposure of secrets whose scores come from where the other names' come from, in bits."""
    scores = (rng.standard_normal(CANDIDATES) for _ in range(count))
    return np.array([exposure(rank(float(drawn[0]), drawn[1:]), CANDIDATES) for drawn in scores])


def exposure_mean(draws: int, seed: int, *, rank: Callable[[float, Floats], float] = mean_rank) -> NullTest:
    """Exposure of unseen secrets: log2(N) - log2(N!) / N = 1.4415 bits on average (uniform ranks)."""
    name = f"exposure: mean, {CANDIDATES:,} names"
    bits = _ranks(draws, rng_of(name, seed), rank)
    expected = math.log2(CANDIDATES) - math.lgamma(CANDIDATES + 1) / math.log(2) / CANDIDATES
    error = null_exposure(CANDIDATES)[1] / math.sqrt(draws)
    return NullTest(name=name, expected=expected, observed=float(bits.mean()), error=error, draws=draws)


def exposure_deviation(draws: int, seed: int, *, rank: Callable[[float, Floats], float] = mean_rank) -> NullTest:
    """Exposure of unseen secrets: a standard deviation of 1.437 bits."""
    name = f"exposure: deviation, {CANDIDATES:,} names"
    bits = _ranks(draws, rng_of(name, seed), rank)
    expected = null_exposure(CANDIDATES)[1]
    error = expected * math.sqrt(2 / draws)  # an exponential's fourth moment, nearly ours, is 9 squared variances
    return NullTest(name=name, expected=expected, observed=float(bits.std()), error=error, draws=draws)


def exposure_ties(draws: int, seed: int, *, rank: Callable[[float, Floats], float] = mean_rank) -> NullTest:
    """A model that gives every name the same score: rank 3,151 of 6,301, 1.0 bit, wherever the secret stands."""
    del draws, seed
    bits = exposure(rank(-1.0, np.full(CANDIDATES - 1, -1.0)), CANDIDATES)
    expected = math.log2(CANDIDATES / ((CANDIDATES + 1) / 2))
    return NullTest(name="exposure: all names tied", expected=expected, observed=bits, error=0.0, draws=1)


Area = Callable[[Floats, Floats], tuple[float, float, float]]
"""Members' and others' scores to the area and its interval."""


def _area(members: Floats, others: Floats) -> tuple[float, float, float]:
    found = area(members, others)
    return found.value, found.low or 0.0, found.high or 1.0


def area_mean(draws: int, seed: int, *, of: Area = _area) -> NullTest:
    """The area under the ROC curve is one half on average."""
    name = "membership: area under the curve"
    rng = rng_of(name, seed)
    found = np.array([of(rng.standard_normal(100), rng.standard_normal(100))[0] for _ in range(draws)])
    # Variance of the Mann-Whitney share where both sides have one distribution: (m + n + 1) / (12 m n).
    error = math.sqrt(201 / (12 * 100 * 100) / draws)
    return NullTest(name=name, expected=0.5, observed=float(found.mean()), error=error, draws=draws)


def area_coverage(draws: int, seed: int, *, of: Area = _area) -> NullTest:
    """Its 95 % interval holds one half in about 95 % of draws."""
    name = "membership: area's interval holds 0.5"
    rng = rng_of(name, seed)
    ends = [of(rng.standard_normal(100), rng.standard_normal(100))[1:] for _ in range(draws)]
    return share(name, [low <= 0.5 <= high for low, high in ends], 1 - LEVEL, allowance=0.015)  # noqa: PLR2004 - chance


def _found(members: Floats, others: Floats) -> float:
    return detection(members, others, allowed=0.01).value


def detected_share(draws: int, seed: int, *, of: Callable[[Floats, Floats], float] = _found) -> NullTest:
    """Members found at a false-positive rate of 1 %: the chance to pass the 11th of 1,000 others, 11 / 1,001."""
    name = "membership: found at 1 % false alarms"
    rng = rng_of(name, seed)
    found = [of(rng.standard_normal(_MEMBERS), rng.standard_normal(_OTHERS)) for _ in range(draws)]
    # Each draw's share varies by its members and by its threshold, a beta variable.
    passing = _OTHERS // 100 + 1
    expected = passing / (_OTHERS + 1)
    threshold = expected * (1 - expected) / (_OTHERS + 2)
    variance = threshold + (expected * (1 - expected) - threshold) / _MEMBERS
    error = math.sqrt(variance / draws)
    return NullTest(name=name, expected=expected, observed=float(np.mean(found)), error=error, draws=draws)


Bound = Callable[[Floats, NDArray[np.bool_]], float]
"""Scores and coins to the lower bound on epsilon."""


def _bound(scores: Floats, coins: NDArray[np.bool_]) -> float:
    return audit(scores, coins, delta=_DELTA).epsilon


def epsilon_bound(draws: int, seed: int, *, canaries: int = 200, bound: Bound = _bound) -> NullTest:
    """The one-run bound on epsilon is 0 in at least 95 % of draws (Steinke et al. 2023)."""
    name = f"epsilon: bound is 0, {canaries:,} coins"
    rng = rng_of(name, seed)
    found = [bound(rng.standard_normal(canaries), rng.integers(0, 2, canaries) == 1) for _ in range(draws)]
    return share(name, [value == 0 for value in found], 1 - LEVEL, "at least")


def sign_flips(
    draws: int, seed: int, *, pairs: int = _FEW, test: Callable[[Floats], Floats] = sign_flip_test
) -> NullTest:
    """The paired test rejects at .05 in 5 % of draws, and never in more than error explains."""
    name = f"paired test: rejects, {pairs} pairs"
    p_values = test(rng_of(name, seed).standard_normal((draws, pairs)))
    return share(name, [bool(p <= LEVEL) for p in p_values], LEVEL, "at most")


def _mcnemar(left: Floats, right: Floats) -> tuple[float, float, float]:
    found = paired_shares(left, right)
    if found is None or found.low is None or found.high is None:
        return math.nan, math.nan, math.nan
    return found.p, found.low, found.high


Shares = Callable[[Floats, Floats], tuple[float, float, float]]
"""Zeros and ones of both sides to p and the interval of the difference."""


def share_test(draws: int, seed: int, *, of: Shares = _mcnemar) -> NullTest:
    """McNemar's exact test of two shares of the same canaries rejects at .05 in at most 5 % of draws."""
    name = f"paired shares: rejects, {_MANY} pairs"
    sides = rng_of(name, seed).random((draws, 2, _MANY)) < _COMMON
    return share(name, [of(*side.astype(np.float64))[0] <= LEVEL for side in sides], LEVEL, "at most")


def share_coverage(draws: int, seed: int, *, of: Shares = _mcnemar) -> NullTest:
    """Newcombe's interval of their difference holds 0 in about 95 % of draws, rather in more."""
    name = f"paired shares: difference's interval, {_MANY} pairs"
    sides = rng_of(name, seed).random((draws, 2, _MANY)) < _COMMON
    ends = [of(*side.astype(np.float64))[1:] for side in sides]
    return share(name, [low <= 0 <= high for low, high in ends], 1 - LEVEL, "at least", allowance=0.01)


def holm_family(draws: int, seed: int, *, correct: Callable[[Floats], Floats] = holm) -> NullTest:
    """Eight conditions held against one reference: any false finding at .05 after correction in at most 5 %."""
    name = f"Holm: any of {_HOLM_TESTS} conditions found"
    rng = rng_of(name, seed)
    hits = []
    for _ in range(draws):
        bits = -np.log2(rng.random((_HOLM_TESTS + 1, _FEW)))
        hits.append(bool((correct(sign_flip_test(bits[1:] - bits[0])) <= LEVEL).any()))
    return share(name, hits, LEVEL, "at most")


Interval = Callable[[Floats, int], tuple[float, float]]
"""Values and a seed to the interval of their mean."""


def _bca(values: Floats, seed: int) -> tuple[float, float]:
    sample = of_values(values)
    return interval(sample, replicates([sample], resamples=_RESAMPLES, seed=seed)[0]) or (math.nan, math.nan)


def paired_coverage(draws: int, seed: int, *, ends: Interval = _bca) -> NullTest:
    """The BCa interval of a mean paired difference in exposure holds 0 in 92 to 95 % of draws: 20 pairs are few."""
    name = f"bootstrap: difference's interval, {_MANY} pairs"
    rng = rng_of(name, seed)
    hits = []
    for number in range(draws):
        bits = -np.log2(rng.random((2, _MANY)))
        low, high = ends(bits[0] - bits[1], number)
        hits.append(low <= 0 <= high)
    return share(name, hits, 1 - LEVEL, allowance=0.025)


def mean_coverage(draws: int, seed: int, *, ends: Interval = _bca) -> NullTest:
    """The BCa interval of mean exposure, whose spread is skewed, holds the mean in about 95 % of draws."""
    name = "bootstrap: mean exposure's interval, 100 canaries"
    rng = rng_of(name, seed)
    hits = []
    for number in range(draws):
        low, high = ends(-np.log2(rng.random(100)), number)
        hits.append(low <= 1 / math.log(2) <= high)
    return share(name, hits, 1 - LEVEL, allowance=0.01)


def _spearman(left: Floats, right: Floats, seed: int) -> float:
    found = spearman(left, right, resamples=1, seed=seed)
    return math.nan if found is None else found.p


def rank_correlation(
    draws: int, seed: int, *, at: float = LEVEL, p_of: Callable[[Floats, Floats, int], float] = _spearman
) -> NullTest:
    """The permutation p of Spearman's coefficient is uniform but for its steps: at most x in a share x of draws."""
    name = f"Spearman: p at most {at:g}, {_CONDITIONS} conditions"
    rng = rng_of(name, seed)
    sides = rng.standard_normal((draws, 2, _CONDITIONS))
    found = [p_of(left, right, number) for number, (left, right) in enumerate(sides)]
    return share(name, [p <= at for p in found], at, allowance=0.005)  # p comes in steps


def exact_coverage(
    draws: int, seed: int, *, ends: Callable[[int, int], tuple[float, float]] = share_interval
) -> NullTest:
    """The exact binomial interval holds every share with at least 95 % (computed, not drawn): n 20."""
    del draws, seed
    from scipy.stats import binom

    limits = np.array([ends(part, _MANY) for part in range(_MANY + 1)])
    shares = np.linspace(0.001, 0.999, 999)
    holds = (limits[:, :1] <= shares) & (shares <= limits[:, 1:])
    coverage = np.sum(binom.pmf(np.arange(_MANY + 1)[:, None], _MANY, shares) * holds, axis=0)
    return NullTest(
        name=f"exact interval: least coverage, {_MANY} canaries",
        expected=1 - LEVEL,
        observed=float(coverage.min()),
        error=0.0,
        rule="at least",
        draws=1,
    )


TESTS: tuple[Callable[[int, int], NullTest], ...] = (
    exposure_mean,
    exposure_deviation,
    exposure_ties,
    area_mean,
    area_coverage,
    detected_share,
    *(partial(epsilon_bound, canaries=canaries) for canaries in (100, 200, 1000)),
    *(partial(sign_flips, pairs=pairs) for pairs in (_FEW, _MANY)),
    share_test,
    share_coverage,
    holm_family,
    paired_coverage,
    mean_coverage,
    *(partial(rank_correlation, at=at) for at in (LEVEL, 0.5)),
    exact_coverage,
)
"""Every null test; each takes the number of draws and the seed."""


def null_tests(draws: int = DRAWS, seed: int = 0) -> Iterator[NullTest]:
    """Run every null test, one after the other.

    Args:
        draws: of each simulation; the error falls with its root.
        seed: equal seeds give equal outcomes.
    """
    return (test(draws, seed) for test in TESTS)
