"""How well scores tell members from others: ROC curve, its area, and the share found at few false alarms.

Higher scores speak for membership. Carlini et al. 2022, "Membership Inference Attacks From First Principles", ask for
the true-positive rate at low false-positive rates beside the area: an attack that finds a few members for certain is
worse than its average tells.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscape.statistics.binomial import share_interval
from leakscape.statistics.bootstrap import Floats

FALSE_ALARMS = (0.01, 0.001)
"""The false-positive rates at which landscapes report."""

_WHOLE = 1e-9  # 0.01 * 2,900 is 28.999999999999996 in floats and means 29
_BESIDE = 1e-12


@dataclass(frozen=True, slots=True)
class Roc:
    """A curve from (0, 0) to (1, 1), a point for each distinct score, equal scores in one step.

    Args:
        false_positive_rates: share of others at or above the threshold, rising, (P,).
        true_positive_rates: share of members at or above it, rising, (P,).
        thresholds: falling, (P,); the first one is infinite.
    """

    false_positive_rates: Floats
    true_positive_rates: Floats
    thresholds: Floats


@dataclass(frozen=True, slots=True)
class Area:
    """The area under the curve: the chance that a member scores above another, ties counting half.

    `low` and `high` are None where a side has fewer than two scores.
    """

    value: float
    low: float | None
    high: float | None
    members: int
    others: int


@dataclass(frozen=True, slots=True)
class Detection:
    """Members found at the threshold that at most a given share of others passes.

    Args:
        value: the share of members above the threshold.
        low, high: its exact binomial interval, the threshold taken as given.
        found, members: the counts behind it.
        allowed: the false-positive rate asked for.
        false_positive_rate: the one that the threshold has; below `allowed` where scores are tied or others are few.
        resolved: whether the others are enough for one of them to pass. If not, the threshold lies above them all and
            nothing is known of how rarely one passes it.
    """

    value: float
    low: float
    high: float
    found: int
    members: int
    allowed: float
    false_positive_rate: float
    resolved: bool


def roc_curve(members: Floats, others: Floats) -> Roc:
    """The curve.

    Args:
        members: scores of members, (M,).
        others: scores of others, (N,).

    Raises:
        ValueError: a side is empty, or a score is no finite number.
    """
    _check(members, others)
    distinct = np.unique(np.concatenate([members, others]))[::-1]
    true = 1 - np.searchsorted(np.sort(members), distinct, side="left") / members.size
    false = 1 - np.searchsorted(np.sort(others), distinct, side="left") / others.size
    return Roc(*(np.concatenate([[first], rest]) for first, rest in ((0, false), (0, true), (math.inf, distinct))))


def thinned(roc: Roc, points: int) -> Roc:
    """At most so many points of a curve, its ends among them.

    They lie at even distances along the curve, so steep and flat parts are both kept.

    Raises:
        ValueError: fewer than two points are asked for.
    """
    if points < 2:  # noqa: PLR2004 - both ends
        raise ValueError("a curve has at least two ends")
    if roc.thresholds.size <= points:
        return roc
    way = roc.false_positive_rates + roc.true_positive_rates
    chosen = np.unique(np.searchsorted(way, np.linspace(0, way[-1], points)))
    return Roc(roc.false_positive_rates[chosen], roc.true_positive_rates[chosen], roc.thresholds[chosen])


def area(members: Floats, others: Floats, *, confidence: float = 0.95) -> Area:
    """The area under the curve with DeLong's interval on the logit scale, which stays between 0 and 1.

    DeLong et al. 1988; by midranks as Sun and Xu 2014. Where the scores part the sides completely DeLong's variance
    is 0 and tells nothing; Newcombe's interval (2006, method 5) takes its place.

    Args:
        members: scores of members, (M,).
        others: scores of others, (N,).
        confidence: two-sided level.

    Raises:
        ValueError: a side is empty, or a score is no finite number.
    """
    _check(members, others)
    value, variance = _delong(members, others)
    ends: tuple[float | None, float | None] = (None, None)
    if min(members.size, others.size) > 1:
        ends = _interval(value, variance, members.size, others.size, confidence)
    return Area(value, *ends, members.size, others.size)


def detection(members: Floats, others: Floats, *, allowed: float, confidence: float = 0.95) -> Detection:
    """The true-positive rate at a false-positive rate.

    The threshold is the lowest that at most `allowed` of the others pass; whoever scores strictly above the next other
    one is found. Tied scores pass together or not at all.

    Args:
        members: scores of members, (M,).
        others: scores of others, (N,).
        allowed: the false-positive rate, below 1.
        confidence: two-sided level.

    Raises:
        ValueError: a side is empty, a score is no finite number, or the rate is none.
    """
    _check(members, others)
    if not 0 <= allowed < 1:
        raise ValueError("a false-positive rate to keep lies between 0 and 1")
    passing = math.floor(allowed * others.size + _WHOLE)
    bar = np.sort(others)[::-1][passing]
    found = int(np.count_nonzero(members > bar))
    low, high = share_interval(found, members.size, confidence=confidence)
    return Detection(
        value=found / members.size,
        low=low,
        high=high,
        found=found,
        members=members.size,
        allowed=allowed,
        false_positive_rate=float(np.mean(others > bar)),
        resolved=passing > 0,
    )


def _delong(members: Floats, others: Floats) -> tuple[float, float]:
    """The area and its variance (NaN where a side has one score)."""
    from scipy.stats import rankdata

    m, n = members.size, others.size
    together = rankdata(np.concatenate([members, others]))
    above: Floats = (together[:m] - rankdata(members)) / n  # for each member the share of others below it
    below: Floats = 1 - (together[m:] - rankdata(others)) / m  # for each other one the share of members above it
    value = float(np.mean(above))
    if min(m, n) < 2:  # noqa: PLR2004 - one score has no spread
        return value, math.nan
    return value, float(np.var(above, ddof=1) / m + np.var(below, ddof=1) / n)


def _interval(value: float, variance: float, m: int, n: int, confidence: float) -> tuple[float, float]:
    from scipy.special import expit, logit, ndtri

    reach = float(ndtri((1 + confidence) / 2))
    if not 0 < value < 1 or variance <= 0:
        return _newcombe(value, m, n, reach)
    spread = reach * math.sqrt(variance) / (value * (1 - value))
    centre = float(logit(value))
    return float(expit(centre - spread)), float(expit(centre + spread))


def _newcombe(value: float, m: int, n: int, reach: float) -> tuple[float, float]:
    """The areas whose own standard error (Hanley and McNeil 1982, balanced form) reaches the one found."""
    from scipy.optimize import brentq

    half = (m + n) / 2 - 1

    def gap(candidate: float) -> float:
        inner = 1 + half * (1 - candidate) / (2 - candidate) + half * candidate / (1 + candidate)
        return abs(value - candidate) - reach * math.sqrt(candidate * (1 - candidate) * inner / (m * n))

    # The gap is below 0 beside the area found (and 0 at an area of 0 or 1 itself), and above 0 at the other end.
    low = float(brentq(gap, 0.0, value - _BESIDE)) if value > _BESIDE else 0.0
    high = float(brentq(gap, value + _BESIDE, 1.0)) if value < 1 - _BESIDE else 1.0
    return low, high


def _check(members: Floats, others: NDArray[np.float64]) -> None:
    for side in (members, others):
        if side.size == 0 or not bool(np.isfinite(side).all()):
            raise ValueError("members and others need at least one score each, and finite numbers only")
