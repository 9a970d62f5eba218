"""Bootstrap intervals of means over canaries or records.

What is resampled is a group: a canary with all its rows, a held-out record. Groups are drawn within strata (the
multiplicities), so that every resample holds as many canaries of each multiplicity as the measurement. All conditions
get the same draws: their replicates are paired, and ranks can be read off them.

Intervals are BCa (Efron 1987, "Better bootstrap confidence intervals"), with the levels moved outward for small
samples as Hesterberg 2015 ("What teachers should know about the bootstrap", section 5.3) does for percentiles:
a bootstrap of five values is too narrow by sqrt(4/5) and has normal tails, not those of Student's t with 4 degrees.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_CELLS_AT_ONCE = 4_000_000  # weights held at a time: 32 MB


@dataclass(frozen=True, slots=True)
class Sample:
    """What one condition gave for each of G groups.

    Args:
        sums: sum of the values of a group's rows, (G,).
        counts: number of those rows, (G,); 0 where a group has none.
        strata: an integer a group, (G,); groups are drawn within it.
    """

    sums: Floats
    counts: Floats
    strata: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Mean over rows.

        Raises:
            ValueError: there is no row.
        """
        if not self.counts.sum():
            raise ValueError("a mean needs at least one value")
        return float(self.sums.sum() / self.counts.sum())

    def only(self, stratum: int) -> "Sample":
        """The groups of one stratum."""
        return self.chosen(self.strata == stratum)

    def chosen(self, groups: NDArray[np.bool_]) -> "Sample":
        """Some of the groups, (G,)."""
        return Sample(self.sums[groups], self.counts[groups], self.strata[groups])


def of_values(values: Floats, strata: NDArray[np.int64] | None = None) -> Sample:
    """A sample in which every group has one value; NaN marks a group that has none."""
    present = ~np.isnan(values)
    codes = np.zeros(values.size, dtype=np.int64) if strata is None else strata
    return Sample(np.where(present, values, 0.0), present.astype(np.float64), codes)


def replicates(samples: list[Sample], *, resamples: int, seed: int | list[int]) -> Floats:
    """Means of resamples, the same draws for every sample.

    Args:
        samples: K samples with the same groups and strata.
        resamples: how many draws, R.
        seed: equal seeds give equal draws.

    Returns:
        (K, R); NaN where a draw held no row of a sample.
    """
    sums = np.stack([sample.sums for sample in samples])
    counts = np.stack([sample.counts for sample in samples])
    parts = []
    for weights in _weights(samples[0].strata, resamples, np.random.default_rng(seed)):
        totals = counts @ weights.T
        with np.errstate(invalid="ignore"):
            parts.append(np.where(totals > 0, (sums @ weights.T) / totals, np.nan))
    return np.concatenate(parts, axis=1)


def _weights(strata: NDArray[np.int64], resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each group stands in each draw, (r, G), a bounded number of draws at a time."""
    step = max(1, _CELLS_AT_ONCE // max(1, strata.size))
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weights = np.zeros((size, strata.size))
        for chosen in members:
            weights[:, chosen] = rng.multinomial(chosen.size, np.full(chosen.size, 1 / chosen.size), size=size)
        yield weights


def interval(
    sample: Sample, drawn: Floats, *, confidence: float = 0.95, expand: bool = True
) -> tuple[float, float] | None:
    """The BCa interval of a sample's mean.

    Args:
        sample: the sample.
        drawn: its row of `replicates`, (R,).
        confidence: two-sided level.
        expand: move the levels outward for small samples.

    Returns:
        Low and high; None where no stratum has two groups with rows, so that nothing tells the spread.
    """
    from scipy.special import ndtr, ndtri

    drawn = drawn[~np.isnan(drawn)]
    factor, freedom, influence = _spread(sample)
    if not freedom or not drawn.size:
        return None
    mean = sample.mean
    if np.ptp(drawn) <= 1e-12 * max(1.0, abs(mean)):
        return mean, mean
    reach = _reach(confidence, factor, freedom) if expand else float(ndtri((1 + confidence) / 2))
    below = (np.count_nonzero(drawn < mean) + np.count_nonzero(drawn == mean) / 2) / drawn.size
    bias = float(ndtri(np.clip(below, 1 / (drawn.size + 1), drawn.size / (drawn.size + 1))))
    squares = float(np.sum(influence**2))
    acceleration = float(np.sum(influence**3)) / (6 * squares**1.5) if squares > 0 else 0.0
    levels = [float(ndtr(_corrected(bias, end, acceleration))) for end in (-reach, reach)]
    low, high = np.quantile(drawn, levels)
    return min(float(low), mean), max(float(high), mean)


def _corrected(bias: float, end: float, acceleration: float) -> float:
    shrink = 1 - acceleration * (bias + end)
    # Beyond the pole of the BCa formula the level is the outermost one.
    return bias + (bias + end) / shrink if shrink > 0 else math.copysign(math.inf, end)


def _reach(confidence: float, factor: float, freedom: int) -> float:
    """How many normal deviations the interval reaches, widened for few groups; at most 4.5."""
    from scipy.special import stdtrit

    return min(4.5, factor * float(stdtrit(freedom, (1 + confidence) / 2)))


def _spread(sample: Sample) -> tuple[float, int, Floats]:
    """By how much the bootstrap's deviation is too small, the degrees of freedom, and each group's influence."""
    influence = np.zeros_like(sample.sums)
    biased = unbiased = 0.0
    freedom = 0
    for stratum in np.unique(sample.strata):
        chosen = (sample.strata == stratum) & (sample.counts > 0)
        size = int(np.count_nonzero(chosen))
        if size < 2:  # noqa: PLR2004 - one group has no spread
            continue
        center = sample.sums[chosen].sum() / sample.counts[chosen].sum()
        influence[chosen] = (sample.sums[chosen] - sample.counts[chosen] * center) / sample.counts.sum()
        squares = float(np.sum(influence[chosen] ** 2))
        biased += squares
        unbiased += squares * size / (size - 1)
        freedom += size - 1
    return (math.sqrt(unbiased / biased) if biased > 0 else 1.0), freedom, influence
