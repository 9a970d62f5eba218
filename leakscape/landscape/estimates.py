"""From raw scores to figures with intervals, and to replicates that ranks and correlations read.

Every metric of `leakscape.scoring.metrics` is a mean on some scale: perplexity is exp of a mean of negative
log-likelihoods, so its bootstrap runs on that mean and its paired difference is a ratio. So are shares of canaries.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leakscape.landscape.figures import Estimate, Figure
from leakscape.scoring import metrics
from leakscape.scoring.measurements import Measurements
from leakscape.scoring.metrics import Metric, Values
from leakscape.statistics.binomial import share_interval
from leakscape.statistics.bootstrap import Floats, Sample, interval, replicates

_HIGHEST = math.log(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a metric is a mean: `to` takes a row's value there, `back` the mean to the figure."""

    to: Callable[[Values], Values]
    back: Callable[[float], float]
    differences: Literal["ratio", "difference"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Of the bootstrap; `delta` is what bounds on epsilon are held against where a training claims none."""

    resamples: int = 2000
    confidence: float = 0.95
    seed: int = 0
    delta: float = 1e-5


def _exp(value: float) -> float:
    return math.exp(value) if value < _HIGHEST else math.inf


_SCALES: dict[Callable[[Values], float], Scale] = {
    metrics.perplexity: Scale(np.negative, _exp, "ratio"),
    metrics.mean: Scale(np.positive, float, "difference"),
    metrics.generation_probability: Scale(np.exp, float, "difference"),
    metrics.log10_generation_probability: Scale(lambda nats: nats / math.log(10), float, "difference"),
}


AS_IT_IS = _SCALES[metrics.mean]
"""The scale of a plain mean."""


def scale_of(metric: Metric) -> Scale:
    """Where a metric is a mean."""
    return _SCALES[metric.aggregate]


@dataclass(frozen=True, slots=True)
class Series:
    """What one condition gave for a metric, row by row.

    Args:
        groups: what each row is resampled with, (n,).
        multiplicity: of each row, (n,); -1 where it has none.
        values: one a row, (n,); NaN where it has none.
    """

    groups: tuple[str, ...]
    multiplicity: NDArray[np.int64]
    values: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A metric to align: its name, the probe that names its draws, its scale, and whether it is a share of groups.

    A share has a 0 or a 1 in each group, and therefore exact intervals and tests.
    """

    name: str
    probe: str
    better: Literal["high", "low"]
    scale: Scale = AS_IT_IS
    share: bool = False


@dataclass(frozen=True, slots=True)
class Aligned:
    """One metric of the conditions of a target, group by group.

    Canaries that a coin left out (multiplicity 0) were never trained on: they stand by themselves under multiplicity 0
    and take no part in what is said over all.

    Args:
        measure: which metric.
        multiplicity: of each group, (G,); -1 where it has none.
        samples: by condition, on the metric's scale; those with a value over all.
        drawn: replicates of each condition's mean over all, on the metric's scale, by condition, (R,).
    """

    measure: Measure
    multiplicity: NDArray[np.int64]
    samples: dict[str, Sample]
    drawn: dict[str, Floats]

    @property
    def scale(self) -> Scale:
        """The metric's scale."""
        return self.measure.scale

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which groups the figure over all is made of, (G,)."""
        return np.asarray(self.multiplicity != 0)

    def whole(self, name: str) -> Sample:
        """What a condition gave over all."""
        return self.samples[name].chosen(self.counted)

    @property
    def multiplicities(self) -> list[int]:
        """Those that occur, ascending."""
        return [int(value) for value in np.unique(self.multiplicity) if value >= 0]


def align_metric(metric: Metric, measured: Mapping[str, Measurements], settings: Settings) -> Aligned | None:
    """`align` for a metric of the scored probes."""
    series = {}
    for name, data in measured.items():
        columns = data.columns(metric.probe)
        series[name] = Series(columns.groups, columns.multiplicity, metric.values(columns))
    share = metric.name == "rank_first_share"
    measure = Measure(name=metric.name, probe=metric.probe, better=metric.better, scale=scale_of(metric), share=share)
    return align(measure, series, settings)


def align(measure: Measure, series: Mapping[str, Series], settings: Settings) -> Aligned | None:
    """Bring the values of one metric under all conditions into the same order of groups.

    Args:
        measure: the metric.
        series: by condition.
        settings: of the bootstrap.

    Returns:
        None where no condition has a value over all.
    """
    multiplicity: dict[str, int] = {}
    for rows in series.values():
        has_value = ~np.isnan(rows.values)
        triples = zip(rows.groups, rows.multiplicity.tolist(), has_value.tolist(), strict=True)
        multiplicity.update({group: copies for group, copies, has in triples if has})
    if not multiplicity:
        return None
    groups = {group: place for place, group in enumerate(sorted(multiplicity))}
    strata = np.array([multiplicity[group] for group in groups], dtype=np.int64)
    samples = {name: _sample(rows, groups, strata, measure.scale.to) for name, rows in series.items()}
    planted = {name: sample.chosen(strata != 0) for name, sample in samples.items()}
    planted = {name: sample for name, sample in planted.items() if sample.counts.sum()}
    if not planted:
        return None
    drawn = replicates(list(planted.values()), resamples=settings.resamples, seed=seed_of(settings, measure.probe))
    kept = {name: samples[name] for name in planted}
    return Aligned(measure, strata, kept, dict(zip(planted, drawn, strict=True)))


def _sample(
    rows: Series, groups: Mapping[str, int], strata: NDArray[np.int64], to: Callable[[Values], Values]
) -> Sample:
    keep = ~np.isnan(rows.values)
    places = np.array([groups[group] for group, kept in zip(rows.groups, keep, strict=True) if kept], dtype=np.int64)
    sums = np.bincount(places, weights=to(rows.values[keep]), minlength=len(groups)).astype(np.float64)
    counts = np.bincount(places, minlength=len(groups)).astype(np.float64)
    return Sample(sums, counts, strata)


def seed_of(settings: Settings, *names: str) -> list[int]:
    """The seed of the draws that the names stand for; equal names give equal draws."""
    return [settings.seed, *"/".join(names).encode()]


def figure(aligned: Aligned, name: str, settings: Settings) -> Figure | None:
    """One metric of one condition, over all and by multiplicity; None where it is no finite number."""
    if name not in aligned.samples:
        return None
    sample = aligned.samples[name]
    whole = _estimate(aligned, aligned.whole(name), aligned.drawn[name], settings)
    if whole is None:
        return None
    parts = {}
    for copies in aligned.multiplicities:
        part = sample.only(copies)
        if not part.counts.sum():
            continue
        seed = seed_of(settings, aligned.measure.probe, str(copies))
        drawn = replicates([part], resamples=settings.resamples, seed=seed)[0]
        if (found := _estimate(aligned, part, drawn, settings)) is not None:
            parts[str(copies)] = found
    return Figure(value=whole.value, low=whole.low, high=whole.high, n=whole.n, by_multiplicity=parts)


def _estimate(aligned: Aligned, sample: Sample, drawn: Floats, settings: Settings) -> Estimate | None:
    size = int(np.count_nonzero(sample.counts))
    ends: tuple[float, float] | None
    if aligned.measure.share:
        ends = share_interval(round(float(sample.sums.sum())), size, confidence=settings.confidence)
    else:
        ends = interval(sample, drawn, confidence=settings.confidence)
    return on_scale(aligned.scale, sample.mean, ends, size)


def on_scale(scale: Scale, mean: float, ends: tuple[float | None, float | None] | None, n: int) -> Estimate | None:
    """The figure of a mean and its interval; None where it is no finite number, `high` alone None where that is."""
    value = scale.back(mean)
    if not math.isfinite(value):
        return None
    low, high = (None if end is None else scale.back(end) for end in ends or (None, None))
    return Estimate(value=value, low=low, high=high if high is None or math.isfinite(high) else None, n=n)


def replicate_table(aligned: Sequence[Aligned], names: Sequence[str]) -> tuple[Floats, Floats]:
    """Values (M, K) and replicates (M, K, R) of the metrics that every condition has, all so that high is good.

    The scales are increasing functions of the figures, so ranks on them are the figures' ranks.
    """
    signs = [1.0 if item.measure.better == "high" else -1.0 for item in aligned]
    table = zip(aligned, signs, strict=True)
    values = [[sign * item.whole(name).mean for name in names] for item, sign in table]
    table = zip(aligned, signs, strict=True)
    drawn = [[sign * item.drawn[name] for name in names] for item, sign in table]
    return np.array(values), np.array(drawn)
