"""What changed since the last audit, paired by canary or record where those are the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from leakscape.gate.history import Entry, Scores
from leakscape.landscape.aggregate import RANKED
from leakscape.landscape.estimates import Settings, on_scale, scale_of
from leakscape.landscape.source import Measured
from leakscape.landscape.verdict import Drift
from leakscape.scoring.measurements import Columns
from leakscape.scoring.metrics import METRICS, Metric
from leakscape.statistics.paired import PairedDifference, holm, paired_difference

PAIRED = (*RANKED["privacy"], *RANKED["capability"])
"""The metrics whose scores the history keeps."""

Place = tuple[str, str, str]
"""Target, condition and metric."""


@dataclass(frozen=True)
class Changes:
    """The changes that could be tested, and for the others the reason why not."""

    drift: list[Drift] = field(default_factory=list)
    skipped: dict[Place, str] = field(default_factory=dict)


def scores_of(measured: Sequence[Measured]) -> Scores:
    """The scores of one target, for the history."""
    return {
        item.summary.condition: {
            name: found for name in PAIRED if (found := _groups(METRICS[name], item.data.columns(METRICS[name].probe)))
        }
        for item in measured
    }


def _groups(metric: Metric, columns: Columns) -> dict[str, float]:
    """The mean of each canary's or record's rows; canaries that a coin left out were never trained on."""
    values = scale_of(metric).to(metric.values(columns))
    values[columns.multiplicity == 0] = np.nan
    rows: dict[str, list[float]] = {}
    for group, value in zip(columns.groups, values.tolist(), strict=True):
        if not np.isnan(value):
            rows.setdefault(group, []).append(value)
    return {group: float(np.mean(several)) for group, several in sorted(rows.items())}


def probed(measured: Sequence[Measured]) -> dict[str, str]:
    """The digests of the canaries and the held-out records of one target."""
    inputs = measured[0].manifest.inputs
    return {name: str(inputs.get(name) or "") for name in ("canaries", "held_out")}


def compare(
    measured: Mapping[str, Sequence[Measured]], last: Mapping[str, Entry | None], settings: Settings
) -> Changes:
    """Hold each target's scores against its last audit's.

    Args:
        measured: by target.
        last: by target; None where there is no earlier audit.
        settings: of the bootstrap and the test.
    """
    raw: list[tuple[Place, PairedDifference]] = []
    skipped: dict[Place, str] = {}
    for target, items in measured.items():
        entry, same = last.get(target), probed(items)
        for condition, by_metric in scores_of(items).items():
            for metric in PAIRED:
                place = (target, condition, metric)
                now = by_metric.get(metric, {})
                if reason := _unpaired(entry, same, place):
                    skipped[place] = reason
                elif found := _paired(now, _then(entry, place), metric, settings):
                    raw.append((place, found))
    adjusted = holm(np.array([found.p for _, found in raw]))
    drift = [_drift(place, found, float(p)) for (place, found), p in zip(raw, adjusted, strict=True)]
    return Changes([item for item in drift if item is not None], skipped)


def _then(entry: Entry | None, place: Place) -> dict[str, float]:
    _, condition, metric = place
    return entry.scores.get(condition, {}).get(metric, {}) if entry else {}


def _unpaired(entry: Entry | None, same: Mapping[str, str], place: Place) -> str:
    """Why a figure has nothing to be paired with; empty where it has."""
    if entry is None:
        return "there is no earlier audit of this plan and target."
    kind = "held_out" if METRICS[place[2]].side == "capability" else "canaries"
    if getattr(entry, kind) != same[kind]:
        word = "held-out records" if kind == "held_out" else "canaries"
        return f"the last audit used other {word}, so nothing can be paired."
    if not _then(entry, place):
        return f"the last audit did not measure {place[2]} of {place[1]}."
    return ""


def _paired(
    now: Mapping[str, float], then: Mapping[str, float], metric: str, settings: Settings
) -> PairedDifference | None:
    both = sorted(now.keys() & then.keys())
    return paired_difference(
        np.array([now[name] - then[name] for name in both], dtype=np.float64),
        resamples=settings.resamples,
        seed=[settings.seed, *metric.encode()],
        confidence=settings.confidence,
    )


def _drift(place: Place, found: PairedDifference, p_holm: float) -> Drift | None:
    target, condition, metric = place
    scale = scale_of(METRICS[metric])
    change = on_scale(scale, found.value, (found.low, found.high), found.n)
    if change is None:
        return None
    return Drift(
        value=change.value, low=change.low, high=change.high, n=change.n,
        target=target, condition=condition, metric=metric, scale=scale.differences, p=found.p, p_holm=p_holm,
    )  # fmt: skip
