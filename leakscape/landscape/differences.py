"""Conditions held against a reference condition, paired by canary or record."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from leakscape.landscape.estimates import Aligned, Settings, on_scale, seed_of
from leakscape.landscape.figures import Difference, Estimate, GroupDifference
from leakscape.statistics.bootstrap import Floats, Sample
from leakscape.statistics.paired import holm, paired_difference, paired_shares

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class _Tested:
    """A difference on the figure's scale and its own p."""

    estimate: Estimate
    p: float


def differences(aligned: Aligned, reference: str, settings: Settings) -> dict[str, Difference]:
    """One metric of every other condition against a reference, paired by group.

    p-values are corrected over the conditions, and those of single multiplicities over all pairs of condition and
    multiplicity; those of canaries that a coin left out, which can't leak, are corrected among themselves.
    """
    if reference not in aligned.samples:
        return {}
    base = _group_means(aligned.samples[reference])
    whole: dict[str, _Tested] = {}
    parts: dict[tuple[str, str], _Tested] = {}
    for name, sample in aligned.samples.items():
        if name == reference:
            continue
        ours = _group_means(sample)
        found = _compare(aligned, ours, base, None, settings)
        if found is None:
            continue
        whole[name] = found
        for copies in aligned.multiplicities:
            if (part := _compare(aligned, ours, base, copies, settings)) is not None:
                parts[name, str(copies)] = part
    corrected = _corrected(whole)
    planted = {key: item for key, item in parts.items() if key[1] != "0"}
    in_groups = _corrected(planted) | _corrected({key: item for key, item in parts.items() if key[1] == "0"})
    return {
        name: Difference(
            value=item.estimate.value, low=item.estimate.low, high=item.estimate.high, n=item.estimate.n,
            scale=aligned.scale.differences, p=item.p, p_holm=corrected[name],
            by_multiplicity={
                copies: GroupDifference(
                    value=part.estimate.value, low=part.estimate.low, high=part.estimate.high, n=part.estimate.n,
                    p=part.p, p_holm=in_groups[owner, copies],
                )
                for (owner, copies), part in parts.items()
                if owner == name
            },
        )
        for name, item in whole.items()
    }  # fmt: skip


def _compare(aligned: Aligned, ours: Floats, base: Floats, copies: int | None, settings: Settings) -> _Tested | None:
    """Over all groups, drawn within multiplicities, or over those with so many copies."""
    chosen = aligned.counted if copies is None else aligned.multiplicity == copies
    if aligned.measure.share:
        found = paired_shares(ours[chosen], base[chosen], confidence=settings.confidence)
    else:
        names = ("paired",) if copies is None else ("paired", str(copies))
        found = paired_difference(
            ours[chosen] - base[chosen],
            aligned.multiplicity[chosen],
            resamples=settings.resamples,
            seed=seed_of(settings, aligned.measure.probe, *names),
            confidence=settings.confidence,
        )
    if found is None:
        return None
    estimate = on_scale(aligned.scale, found.value, (found.low, found.high), found.n)
    return _Tested(estimate, found.p) if estimate else None


def _corrected(tested: dict[Key, _Tested]) -> dict[Key, float]:
    adjusted = holm(np.array([item.p for item in tested.values()]))
    return dict(zip(tested, adjusted.tolist(), strict=True))


def _group_means(sample: Sample) -> Floats:
    return np.where(sample.counts > 0, sample.sums / np.maximum(sample.counts, 1), np.nan)
