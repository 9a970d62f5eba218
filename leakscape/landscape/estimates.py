"""From raw scores to figures with intervals, to paired differences and to ranks.

Every metric of `leakscape.scoring.metrics` is a mean on some scale: perplexity is exp of a mean of negative
log-likelihoods, so its bootstrap runs on that mean and its paired difference is a ratio.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leakscape.landscape.schema import Difference, Estimate, Figure, GroupDifference
from leakscape.scoring import metrics
from leakscape.scoring.measurements import Columns, Measurements
from leakscape.scoring.metrics import Metric, Values
from leakscape.statistics.binomial import share_interval
from leakscape.statistics.bootstrap import Floats, Sample, interval, replicates
from leakscape.statistics.paired import holm, paired_difference

_HIGHEST = math.log(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a metric is a mean: `to` takes a row's value there, `back` the mean to the figure."""

    to: Callable[[Values], Values]
    back: Callable[[float], float]
    differences: Literal["ratio", "difference"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Of the bootstrap."""

    resamples: int = 2000
    confidence: float = 0.95
    seed: int = 0


def _exp(value: float) -> float:
    return math.exp(value) if value < _HIGHEST else math.inf


_SCALES: dict[Callable[[Values], float], Scale] = {
    metrics.perplexity: Scale(np.negative, _exp, "ratio"),
    metrics.mean: Scale(np.positive, float, "difference"),
    metrics.generation_probability: Scale(np.exp, float, "difference"),
    metrics.log10_generation_probability: Scale(lambda nats: nats / math.log(10), float, "difference"),
}


@dataclass(frozen=True, slots=True)
class Aligned:
    """One metric of the conditions of a target, group by group.

    Args:
        metric: which.
        multiplicity: of each group, (G,); -1 where it has none.
        samples: by condition, on the metric's scale.
        drawn: replicates of each condition's mean, on the metric's scale, by condition, (R,).
    """

    metric: Metric
    multiplicity: NDArray[np.int64]
    samples: dict[str, Sample]
    drawn: dict[str, Floats]

    @property
    def scale(self) -> Scale:
        """The metric's scale."""
        return _SCALES[self.metric.aggregate]

    @property
    def multiplicities(self) -> list[int]:
        """Those that occur, ascending."""
        return [int(value) for value in np.unique(self.multiplicity) if value >= 0]


def align(metric: Metric, measured: Mapping[str, Measurements], settings: Settings) -> Aligned | None:
    """Bring the values of one metric under all conditions into the same order of groups.

    Returns:
        None where no condition has a value.
    """
    columns = {name: data.columns(metric.probe) for name, data in measured.items()}
    values = {name: metric.values(column) for name, column in columns.items()}
    multiplicity: dict[str, int] = {}
    for name, column in columns.items():
        has_value = ~np.isnan(values[name])
        pairs = zip(column.groups, column.multiplicity.tolist(), has_value.tolist(), strict=True)
        multiplicity.update({group: copies for group, copies, has in pairs if has})
    if not multiplicity:
        return None
    groups = {group: place for place, group in enumerate(sorted(multiplicity))}
    strata = np.array([multiplicity[group] for group in groups], dtype=np.int64)
    to = _SCALES[metric.aggregate].to
    samples = {name: _sample(columns[name], values[name], groups, strata, to) for name in measured}
    samples = {name: sample for name, sample in samples.items() if sample.counts.sum()}
    drawn = replicates(list(samples.values()), resamples=settings.resamples, seed=_seed(settings, metric.probe))
    return Aligned(metric, strata, samples, dict(zip(samples, drawn, strict=True)))


def _sample(
    columns: Columns,
    values: Values,
    groups: Mapping[str, int],
    strata: NDArray[np.int64],
    to: Callable[[Values], Values],
) -> Sample:
    keep = ~np.isnan(values)
    places = np.array([groups[group] for group, kept in zip(columns.groups, keep, strict=True) if kept], dtype=np.int64)
    sums = np.bincount(places, weights=to(values[keep]), minlength=len(groups)).astype(np.float64)
    counts = np.bincount(places, minlength=len(groups)).astype(np.float64)
    return Sample(sums, counts, strata)


def _seed(settings: Settings, *names: str) -> list[int]:
    return [settings.seed, *"/".join(names).encode()]


def figure(aligned: Aligned, name: str, settings: Settings) -> Figure | None:
    """One metric of one condition, over all groups and by multiplicity; None where it is no finite number."""
    if name not in aligned.samples:
        return None
    sample = aligned.samples[name]
    whole = _estimate(aligned, sample, aligned.drawn[name], settings)
    if whole is None:
        return None
    parts = {}
    for copies in aligned.multiplicities:
        part = sample.only(copies)
        if not part.counts.sum():
            continue
        seed = _seed(settings, aligned.metric.probe, str(copies))
        drawn = replicates([part], resamples=settings.resamples, seed=seed)[0]
        if (found := _estimate(aligned, part, drawn, settings)) is not None:
            parts[str(copies)] = found
    return Figure(value=whole.value, low=whole.low, high=whole.high, n=whole.n, by_multiplicity=parts)


def _estimate(aligned: Aligned, sample: Sample, drawn: Floats, settings: Settings) -> Estimate | None:
    size = int(np.count_nonzero(sample.counts))
    ends: tuple[float, float] | None
    if aligned.metric.name == "rank_first_share":
        ends = share_interval(round(float(sample.sums.sum())), size, confidence=settings.confidence)
    else:
        ends = interval(sample, drawn, confidence=settings.confidence)
    return _on_scale(aligned.scale, sample.mean, ends, size)


def _on_scale(scale: Scale, mean: float, ends: tuple[float | None, float | None] | None, n: int) -> Estimate | None:
    value = scale.back(mean)
    if not math.isfinite(value):
        return None
    low, high = (None if end is None else scale.back(end) for end in ends or (None, None))
    return Estimate(value=value, low=low, high=high if high is None or math.isfinite(high) else None, n=n)


def differences(aligned: Aligned, reference: str, settings: Settings) -> dict[str, Difference]:
    """One metric of every other condition against a reference, paired by group, p-values corrected over conditions."""
    if reference not in aligned.samples:
        return {}
    base = _group_means(aligned.samples[reference])
    raw = {}
    for name, sample in aligned.samples.items():
        if name == reference:
            continue
        paired = _group_means(sample) - base
        seed = _seed(settings, aligned.metric.probe, "paired")
        found = paired_difference(
            paired, aligned.multiplicity, resamples=settings.resamples, seed=seed, confidence=settings.confidence
        )
        if found is None:
            continue
        whole = _on_scale(aligned.scale, found.value, (found.low, found.high), found.n)
        if whole is not None:
            raw[name] = whole, found.p, _by_multiplicity(aligned, paired, settings)
    corrected = holm(np.array([p for _, p, _ in raw.values()]))
    tested = {(name, copies): p for name, (_, _, parts) in raw.items() for copies, (_, p) in parts.items()}
    in_groups = dict(zip(tested, holm(np.array(list(tested.values()))), strict=True))
    return {
        name: Difference(
            value=whole.value, low=whole.low, high=whole.high, n=whole.n, scale=aligned.scale.differences,
            p=p, p_holm=float(adjusted),
            by_multiplicity={
                copies: GroupDifference(
                    value=part.value, low=part.low, high=part.high, n=part.n,
                    p=alone, p_holm=float(in_groups[name, copies]),
                )
                for copies, (part, alone) in parts.items()
            },
        )
        for (name, (whole, p, parts)), adjusted in zip(raw.items(), corrected, strict=True)
    }  # fmt: skip


def _by_multiplicity(aligned: Aligned, paired: Floats, settings: Settings) -> dict[str, tuple[Estimate, float]]:
    """The difference within each multiplicity, and the p of its own sign-flip test."""
    parts = {}
    for copies in aligned.multiplicities:
        inside = paired[aligned.multiplicity == copies]
        seed = _seed(settings, aligned.metric.probe, "paired", str(copies))
        tested = paired_difference(inside, resamples=settings.resamples, seed=seed, confidence=settings.confidence)
        if tested is None:
            continue
        found = _on_scale(aligned.scale, tested.value, (tested.low, tested.high), tested.n)
        if found is not None:
            parts[str(copies)] = found, tested.p
    return parts


def _group_means(sample: Sample) -> Floats:
    return np.where(sample.counts > 0, sample.sums / np.maximum(sample.counts, 1), np.nan)


def replicate_table(aligned: Sequence[Aligned], names: Sequence[str]) -> tuple[Floats, Floats]:
    """Values (M, K) and replicates (M, K, R) of the metrics that every condition has, all so that high is good.

    The scales are increasing functions of the figures, so ranks on them are the figures' ranks.
    """
    signs = [1.0 if item.metric.better == "high" else -1.0 for item in aligned]
    table = zip(aligned, signs, strict=True)
    values = [[sign * item.samples[name].mean for name in names] for item, sign in table]
    table = zip(aligned, signs, strict=True)
    drawn = [[sign * item.drawn[name] for name in names] for item, sign in table]
    return np.array(values), np.array(drawn)
