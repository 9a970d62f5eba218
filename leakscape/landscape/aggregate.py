"""Measurements and evidence in, a landscape out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leakscape import schemas
from leakscape.landscape import source
from leakscape.landscape.estimates import Aligned, Settings, align, differences, figure, replicate_table
from leakscape.landscape.schema import (
    Condition,
    Difference,
    Figure,
    Front,
    Landscape,
    Made,
    Probe,
    Rank,
    Target,
    Unmeasured,
)
from leakscape.landscape.source import Found, Measured
from leakscape.scoring.measurements import Measurements
from leakscape.scoring.metrics import METRICS, Metric
from leakscape.statistics.ranks import mean_ranks, pareto_front

RANKED = {
    "privacy": ("verbatim_perplexity", "semantic_perplexity", "exposure_bits"),
    "capability": ("held_out_perplexity", "medication_perplexity"),
}
"""The metrics behind each rank; derived ones (rank-1 share, generation probability) would count a probe twice."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """What the conditions of a target say together: by metric, reference or side, then by condition."""

    figures: Mapping[str, Mapping[str, Figure]]
    references: Mapping[str, Mapping[str, Mapping[str, Difference]]]
    ranks: Mapping[str, Mapping[str, Rank]]


def aggregate(
    measured: Sequence[Measured], found: Sequence[Found], plan: Mapping[str, Any], settings: Settings
) -> Landscape:
    """Turn raw scores into figures with intervals, differences and ranks.

    Args:
        measured: from `source.read_measurements`, so that those of a target compare.
        found: from `source.read_evidence`.
        plan: name, seed, targets and conditions in order, as the plan states them; may be empty.
        settings: of the bootstrap.
    """
    names = list(dict.fromkeys([*_stated(plan, "targets"), *(item.summary.target for item in measured)]))
    groups = {name: [item for item in measured if item.summary.target == name] for name in names}
    chains = {item.place: source.chain(item, found) for item in measured}
    used = {part.evidence.digest for chain in chains.values() for part in chain}
    return Landscape(
        schema=schemas.LANDSCAPE,
        plan=dict(plan),
        resamples=settings.resamples,
        confidence=settings.confidence,
        seed=settings.seed,
        targets=[_target(name, group, chains, plan, settings) for name, group in groups.items() if group],
        unused_evidence=sorted(item.evidence.digest for item in found if item.evidence.digest not in used),
    )


def _stated(plan: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    items = plan.get(key, [])
    listed = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return {str(item.get("name") or item.get("model") or ""): item for item in listed}


def _target(
    name: str,
    group: Sequence[Measured],
    chains: Mapping[tuple[str, str], Sequence[Found]],
    plan: Mapping[str, Any],
    settings: Settings,
) -> Target:
    stated = _stated(plan, "conditions")
    order = list(stated)
    items = sorted(group, key=lambda item: _place(item.summary.condition, order))
    data = {item.summary.condition: item.data for item in items}
    untouched = next((item.summary.condition for item in items if not item.summary.adapters), None)
    direct = "direct" if "direct" in data else None
    aligned = {metric: found for metric in METRICS.values() if (found := align(metric, data, settings))}
    figures = {item.metric.name: _figures(item, data, settings) for item in aligned.values()}
    references = {
        reference: {item.metric.name: differences(item, reference, settings) for item in aligned.values()}
        for reference in (untouched, direct)
        if reference
    }
    ranks = {side: _ranks(aligned, side, list(data), settings) for side in RANKED}
    compared = _Compared(figures, references, ranks)
    summary = items[0].summary
    return Target(
        name=name,
        model=summary.model,
        revision=summary.revision,
        tokenizer_hash=summary.tokenizer_hash,
        precision=summary.precision,
        untouched=untouched,
        direct=direct,
        front=_front(figures, list(data)),
        conditions=[
            _condition(item, chains[item.place], compared, str(stated.get(key, {}).get("summary", "")))
            for key, item in zip(data, items, strict=True)
        ],
        missing=[condition for condition in order if condition not in data],
    )


def _place(name: str, order: Sequence[str]) -> tuple[int, str]:
    return (order.index(name), "") if name in order else (len(order), name)


def _figures(aligned: Aligned, data: Mapping[str, Measurements], settings: Settings) -> dict[str, Figure]:
    return {name: found for name in data if (found := figure(aligned, name, settings))}


def _ranks(aligned: Mapping[Metric, Aligned], side: str, names: list[str], settings: Settings) -> dict[str, Rank]:
    """Mean ranks over the side's metrics that every condition has; none for a single condition."""
    usable = [
        item for metric, item in aligned.items() if metric.name in RANKED[side] and len(item.samples) == len(names)
    ]
    if not usable or len(names) < 2:  # noqa: PLR2004 - one condition has no rank
        return {}
    values, drawn = replicate_table(usable, names)
    good = [True] * len(usable)
    ranks = mean_ranks(values, high_is_good=good)
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(mean_ranks(drawn, high_is_good=good), [tail, 1 - tail], axis=1)
    return {
        name: Rank(value=float(ranks[place]), low=float(low[place]), high=float(high[place]), metrics=len(usable))
        for place, name in enumerate(names)
    }


def _front(figures: Mapping[str, Mapping[str, Figure]], names: Sequence[str]) -> Front | None:
    """By exposure where all have it, else by verbatim perplexity; against held-out perplexity."""
    for privacy in ("exposure_bits", "verbatim_perplexity"):
        pair = figures.get(privacy, {}), figures.get("held_out_perplexity", {})
        if all(name in side for side in pair for name in names):
            sign = 1.0 if METRICS[privacy].better == "high" else -1.0
            safe = np.array([sign * pair[0][name].value for name in names])
            able = np.array([-pair[1][name].value for name in names])
            best = [name for name, on in zip(names, pareto_front(safe, able), strict=True) if on]
            return Front(privacy=privacy, capability="held_out_perplexity", conditions=best)
    return None


def _condition(
    item: Measured,
    chain: Sequence[Found],
    compared: _Compared,
    summary: str,
) -> Condition:
    name = item.summary.condition
    logs = [part for part in chain if part.evidence.kind == "training log"]
    return Condition(
        name=name,
        summary=summary,
        trained=bool(item.summary.adapters),
        metrics={metric: found[name] for metric, found in compared.figures.items() if name in found},
        unmeasured=[
            Unmeasured(metric=metric, reason=_reason(METRICS[metric], item))
            for metric in METRICS
            if name not in compared.figures.get(metric, {})
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
        privacy=_privacy(logs),
        made=_made(item, chain),
    )


def _reason(metric: Metric, item: Measured) -> str:
    counts = item.summary.probes.get(metric.probe)
    if counts is None:
        return f"the probe {metric.probe} was not measured"
    if not counts.scored:
        return f"none of {len(counts.unscorable)} could be scored in the probe {metric.probe}"
    return "no finite value: too large for a number, or no fit was possible"


def _exposure_counts(data: Measurements) -> list[int]:
    columns = data.columns("exposure")
    if not columns.ids:
        return []
    bits = METRICS["exposure_bits"].values(columns)
    bins = int(np.floor(np.log2(columns.candidates.max()))) + 1
    return [int(count) for count in np.bincount(np.floor(bits).astype(np.int64), minlength=bins)]


def _privacy(logs: Sequence[Found]) -> dict[str, Any]:
    """The privacy that training spent, as the log's summary states it."""
    stated = (log.evidence.summary.get("privacy") for log in logs)
    return next((privacy for privacy in stated if isinstance(privacy, dict)), {})


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
            "chat": summary.chat,
            "batch_size": summary.batch_size,
            "held_out_limit": summary.held_out_limit,
            **summary.details,
        },
        evidence=[part.evidence for part in chain],
    )
