"""Ranks of conditions over several metrics, and the Pareto front (paper 000)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leakscape.statistics.bootstrap import Floats


def mean_ranks(values: Floats, *, high_is_good: Sequence[bool]) -> Floats:
    """Rank conditions within each metric, 1 the best and ties sharing their mean rank, and average over metrics.

    Args:
        values: (M, K, ...), M metrics of K conditions; further axes (resamples) are ranked one by one.
        high_is_good: for each metric.

    Returns:
        (K, ...).
    """
    from scipy.stats import rankdata

    signs = np.array([-1.0 if high else 1.0 for high in high_is_good]).reshape(-1, *[1] * (values.ndim - 1))
    ranks: Floats = np.mean(rankdata(values * signs, axis=1), axis=0)
    return ranks


def pareto_front(privacy: Floats, capability: Floats) -> NDArray[np.bool_]:
    """Which conditions no other one beats: at least as good on both sides and better on one.

    Args:
        privacy: (K,), higher is better.
        capability: (K,), higher is better.
    """
    as_good = (privacy[:, None] >= privacy) & (capability[:, None] >= capability)
    better = (privacy[:, None] > privacy) | (capability[:, None] > capability)
    return np.asarray(~(as_good & better).any(axis=0))
