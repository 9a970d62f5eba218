"""Differences between conditions, paired by canary or record.

The same canaries are scored under every condition, so what differs between them (a hard secret, a rare patient)
cancels in the difference of each one.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscape.statistics.binomial import wilson_interval
from leakscape.statistics.bootstrap import Floats, interval, of_values, replicates

EXACT_UP_TO = 13
"""Pairs up to which all sign patterns are tried: 2^13 = 8,192."""

_FLIPS_AT_ONCE = 1_000
_SLACK = 1e-9  # sums of the same numbers in another order count as equal


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean of differences, its interval (None for fewer than two pairs) and a two-sided p-value."""

    value: float
    low: float | None
    high: float | None
    n: int
    p: float


def paired_difference(
    differences: Floats,
    strata: NDArray[np.int64] | None = None,
    *,
    resamples: int,
    seed: int | list[int],
    confidence: float = 0.95,
) -> PairedDifference | None:
    """Paired bootstrap and sign-flip test of one difference.

    Args:
        differences: one a pair, (n,); NaN where a side of the pair is missing.
        strata: pairs are drawn within them, (n,).
        resamples: draws of the bootstrap and, beyond `EXACT_UP_TO` pairs, of signs.
        seed: of both.
        confidence: two-sided level.

    Returns:
        None where there is no pair.
    """
    sample = of_values(differences, strata)
    size = int(sample.counts.sum())
    if not size:
        return None
    drawn = replicates([sample], resamples=resamples, seed=seed)[0]
    ends = interval(sample, drawn, confidence=confidence) or (None, None)
    p = float(sign_flip_test(sample.sums[None, sample.counts > 0], flips=max(resamples, 9_999), seed=seed)[0])
    return PairedDifference(sample.mean, ends[0], ends[1], size, p)


def sign_flip_test(differences: Floats, *, flips: int = 9_999, seed: int | list[int] = 0) -> Floats:
    """Two-sided p-values of "each difference is as likely to point either way" (Fisher's randomisation test).

    All 2^n patterns up to `EXACT_UP_TO` pairs, else `flips` random ones with the observed one counted among them
    (Phipson and Smyth 2010), so that p is never 0. The smallest p of n pairs is 2^(1-n): five pairs can't go below
    0.0625.

    Args:
        differences: (D, n), D tests on the same n pairs.
        flips: random patterns.
        seed: of the patterns.

    Returns:
        (D,).
    """
    size = differences.shape[1]
    observed = np.abs(differences.sum(axis=1))
    bar = observed - _SLACK * np.maximum(1.0, np.abs(differences).sum(axis=1))
    if size <= EXACT_UP_TO:
        patterns = np.arange(2**size)[:, None] >> np.arange(size)[None, :] & 1
        sums = (1.0 - 2.0 * patterns) @ differences.T
        return np.asarray(np.mean(np.abs(sums) >= bar, axis=0))
    rng = np.random.default_rng(seed)
    extreme = np.ones(differences.shape[0])
    for start in range(0, flips, _FLIPS_AT_ONCE):
        signs = rng.integers(0, 2, size=(min(_FLIPS_AT_ONCE, flips - start), size), dtype=np.int8) * 2.0 - 1.0
        extreme += np.count_nonzero(np.abs(signs @ differences.T) >= bar, axis=0)
    return np.asarray(extreme / (flips + 1))


def paired_shares(left: Floats, right: Floats, *, confidence: float = 0.95) -> PairedDifference | None:
    """The difference of two shares of the same n, and McNemar's exact test (1947) of it.

    The interval is Newcombe's (1998, "Improved confidence intervals for the difference between binomial proportions
    based on paired data", method 10): Wilson's intervals of both shares, put together by how they go with each other.
    Unlike a bootstrap's it has a width where both shares are 0: 0 of 20 against 0 of 20 -> -0.161 to 0.161.

    Args:
        left: 0 or 1 for each pair, (n,); NaN where it is missing.
        right: (n,).
        confidence: two-sided level.

    Returns:
        `left` less `right`; None where there is no pair.
    """
    both = ~(np.isnan(left) | np.isnan(right))
    size = int(np.count_nonzero(both))
    if not size:
        return None
    from scipy.special import bdtr

    ours, theirs = left[both] > 0, right[both] > 0
    more, fewer = int(np.count_nonzero(ours & ~theirs)), int(np.count_nonzero(~ours & theirs))
    p = min(1.0, 2 * float(bdtr(min(more, fewer), more + fewer, 0.5)))
    value = (more - fewer) / size
    low, high = _newcombe(int(np.count_nonzero(ours & theirs)), more, fewer, size, confidence)
    return PairedDifference(value, max(-1.0, value - low), min(1.0, value + high), size, p)


def _newcombe(common: int, more: int, fewer: int, size: int, confidence: float) -> tuple[float, float]:
    """How far the interval reaches down and up."""
    neither = size - common - more - fewer
    arms = []
    for part in (common + more, common + fewer):
        low, high = wilson_interval(part, size, confidence=confidence)
        arms.append((part / size - low, high - part / size))
    (down, up), (down_other, up_other) = arms
    product = (common + more) * (fewer + neither) * (common + fewer) * (more + neither)
    cross = float(common * neither - more * fewer)
    cross = max(cross - size / 2, 0.0) if cross > 0 else cross
    phi = cross / math.sqrt(product) if product else 0.0
    below = math.sqrt(max(0.0, down**2 - 2 * phi * down * up_other + up_other**2))
    above = math.sqrt(max(0.0, up**2 - 2 * phi * up * down_other + down_other**2))
    return below, above


def holm(p_values: Floats) -> Floats:
    """Adjusted p-values that keep the chance of any false finding among them (Holm 1979).

    .01, .04, .03 -> .03, .06, .06.
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted
