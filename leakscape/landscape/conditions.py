"""One row of the comparison, from what its measurement tells and what all conditions of a target say together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leakscape.landscape import source
from leakscape.landscape.catalogue import Entry
from leakscape.landscape.figures import Difference, Figure, Rank, Unmeasured
from leakscape.landscape.inputs import Found, Measured
from leakscape.landscape.schema import Condition
from leakscape.landscape.told import Told
from leakscape.landscape.traced import Made, Probe
from leakscape.scoring.measurements import Measurements
from leakscape.scoring.metrics import METRICS


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What the conditions of a target say together.

    Args:
        entries: every metric that has a place in the comparison, by name.
        figures: by metric, then by condition.
        references: differences by reference, by metric, then by condition.
        ranks: by side, then by condition.
    """

    entries: Mapping[str, Entry]
    figures: Mapping[str, Mapping[str, Figure]]
    references: Mapping[str, Mapping[str, Mapping[str, Difference]]]
    ranks: Mapping[str, Mapping[str, Rank]]


def condition(item: Measured, chain: Sequence[Found], told: Told, compared: Compared, summary: str) -> Condition:
    """Put one condition together.

    Args:
        item: its measurement.
        chain: the evidence behind it.
        told: from `told.tell`.
        compared: of its target.
        summary: of the plan.
    """
    name = item.summary.condition
    logs = [found for found in chain if found.evidence.kind == "training log"]
    figures = ((metric, compared.figures.get(metric, {}).get(name)) for metric in compared.entries)
    metrics = {metric: figure for metric, figure in figures if figure is not None}
    return Condition(
        name=name,
        summary=summary,
        trained=bool(item.summary.adapters),
        metrics=metrics,
        unmeasured=[
            Unmeasured(metric=metric, reason=told.gaps.get(metric) or _reason(metric, item))
            for metric in compared.entries
            if metric not in metrics
        ],
        differences={
            reference: {metric: found[name] for metric, found in by_metric.items() if name in found}
            for reference, by_metric in compared.references.items()
            if reference != name
        },
        ranks={side: found[name] for side, found in compared.ranks.items() if name in found},
        probes={
            probe: Probe(
                scored=counts.scored,
                straddling=counts.straddling,
                unscorable=[{"id": left.id, "reason": left.reason} for left in counts.unscorable],
            )
            for probe, counts in item.summary.probes.items()
        },
        exposure_counts=_exposure_counts(item.data),
        losses=logs[-1].losses if logs else [],
        training_seconds=sum(log.evidence.seconds.get("wall", 0.0) for log in logs) or None,
        privacy=told.privacy,
        made=_made(item, chain),
        attacks=told.membership.attacks,
        extraction=told.extraction,
        epsilon_bound=told.membership.bound,
        judged=told.judged,
        disclosed=told.disclosed,
        costs=told.costs,
    )


def _reason(metric: str, item: Measured) -> str:
    found = METRICS.get(metric)
    if found is None:
        return "the task was not run"
    counts = item.summary.probes.get(found.probe)
    if counts is None:
        return f"the probe {found.probe} was not measured"
    if not counts.scored:
        return f"none of {len(counts.unscorable)} could be scored in the probe {found.probe}"
    copies = {row.multiplicity for row in item.data.of(found.probe)}
    return (
        "no canary was planted" if copies == {0} else "no finite value: too large for a number, or no fit was possible"
    )


def _exposure_counts(data: Measurements) -> list[int]:
    """Canaries by whole bits; those that a coin left out are not counted."""
    columns = data.columns("exposure")
    if not columns.ids:
        return []
    bits = METRICS["exposure_bits"].values(columns)[columns.multiplicity != 0]
    bins = int(np.floor(np.log2(columns.candidates.max()))) + 1
    return [int(count) for count in np.bincount(np.floor(bits).astype(np.int64), minlength=bins)]


def _made(item: Measured, chain: Sequence[Found]) -> Made:
    summary = item.summary
    return Made(
        measurements=item.manifest.digest,
        adapters=list(summary.adapters),
        corpora=source.corpora(chain),
        inputs=item.manifest.inputs,
        arguments=item.manifest.arguments,
        versions=item.manifest.versions,
        settings={
            "device": summary.device,
            "world_size": summary.world_size,
            "chat": summary.chat,
            "prompt_hash": summary.prompt_hash,
            "batch_size": summary.batch_size,
            "held_out_limit": summary.held_out_limit,
            **summary.details,
        },
        evidence=[part.evidence for part in chain],
    )
