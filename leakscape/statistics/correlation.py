"""Rank correlation between two figures over conditions (Spearman 1904), and how sure it is.

Plans have few conditions, so p comes from permutations, all of them where they are few enough, and not from the
t distribution.
"""

from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from leakscape.statistics.bootstrap import Floats

EXACT_UP_TO = 7
"""Pairs up to which all orders are tried: 7! = 5,040."""

_FEWEST = 5  # pairs below which resampling tells nothing: four points have too few distinct resamples
_SLACK = 1e-9  # correlations of the same ranks in another order count as equal


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's coefficient of n pairs.

    Args:
        value: from -1 to 1.
        low, high: its bootstrap interval; None for fewer than five pairs, and where the order is the same (or the
            reverse) throughout, since every resample then repeats it: read p there.
        n: pairs.
        p: two-sided, of "any order is as likely"; at least 2 / n! (three pairs can't go below a third).
    """

    value: float
    low: float | None
    high: float | None
    n: int
    p: float


def spearman(
    left: Floats, right: Floats, *, resamples: int, seed: int | list[int], confidence: float = 0.95
) -> Correlation | None:
    """Correlate two figures of the same conditions.

    Args:
        left: (K,); NaN where a condition has no figure, which leaves out the pair.
        right: (K,).
        resamples: draws of pairs for the interval (percentiles) and, beyond `EXACT_UP_TO` pairs, of orders for p.
        seed: of both.
        confidence: two-sided level.

    Returns:
        None for fewer than three pairs, and where a side is the same throughout: there is no order to compare.

    Raises:
        ValueError: the sides differ in length.
    """
    if left.shape != right.shape:
        raise ValueError("a correlation needs pairs")
    whole = ~(np.isnan(left) | np.isnan(right))
    one, other = left[whole], right[whole]
    size = one.size
    if size < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:  # noqa: PLR2004 - two points are always in order
        return None
    value = _coefficients(one[None], other[None])[0]
    rng = np.random.default_rng(seed)
    p = _permutation_p(one, other, value, max(resamples, 9_999), rng)
    ends: tuple[float | None, float | None] = (None, None)
    if size >= _FEWEST and abs(value) < 1 - _SLACK:
        drawn = rng.integers(0, size, size=(resamples, size))
        ends = percentiles(_coefficients(one[drawn], other[drawn]), confidence=confidence) or ends
    return Correlation(float(value), *ends, size, p)


def replicated(left: Floats, right: Floats) -> Floats:
    """The coefficient in each resample of canaries and records, the conditions staying the same.

    It tells what measuring on other canaries would have given; `spearman`'s interval tells what other conditions would
    have. With few conditions this one is the narrower, and says nothing about conditions that were not run.

    Args:
        left: (K, R), a figure's replicates from `leakscape.statistics.bootstrap.replicates`.
        right: (K, R).

    Returns:
        (R,); NaN where a side is the same throughout.
    """
    return _coefficients(left.T, right.T)


def percentiles(drawn: Floats, *, confidence: float = 0.95) -> tuple[float, float] | None:
    """The percentile interval of coefficients, (R,); None where none of them is a number."""
    known = drawn[~np.isnan(drawn)]
    if not known.size:
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _permutation_p(one: Floats, other: Floats, value: float, orders: int, rng: np.random.Generator) -> float:
    size = one.size
    if size <= EXACT_UP_TO:
        order = _all_orders(size)
        counted = 0
    else:
        order = rng.permuted(np.tile(np.arange(size), (orders, 1)), axis=1)
        counted = 1  # the observed order is one of them (Phipson and Smyth 2010), so that p is never 0
    found = np.abs(_coefficients(one[None], other[None], order))
    extreme = np.count_nonzero(found >= abs(value) - _SLACK)
    return float((extreme + counted) / (order.shape[0] + counted))


@cache
def _all_orders(size: int) -> NDArray[np.intp]:
    return np.array(list(permutations(range(size))))


def _coefficients(left: Floats, right: Floats, order: NDArray[np.intp] | None = None) -> Floats:
    """Pearson's coefficient of mean ranks, row by row: (R, K) and (R, K) to (R,).

    With orders, (P, K), the ranks of the one right row are put into each of them: (P,).
    """
    from scipy.stats import rankdata

    one, other = (rankdata(side, axis=1) - (side.shape[1] + 1) / 2 for side in (left, right))
    if order is not None:
        other = other[0][order]
    with np.errstate(invalid="ignore"):
        found = np.sum(one * other, axis=1) / np.sqrt(np.sum(one**2, axis=1) * np.sum(other**2, axis=1))
    clipped: Floats = np.clip(found, -1, 1)
    return clipped
