"""Measurements and evidence in, a landscape out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leakscape import schemas
from leakscape.landscape import source
from leakscape.landscape.catalogue import CATALOGUE, EXTRACTION_RATES
from leakscape.landscape.comparable import departures
from leakscape.landscape.conditions import Compared, condition
from leakscape.landscape.correlations import correlations
from leakscape.landscape.differences import differences
from leakscape.landscape.estimates import Aligned, Settings, align, align_metric, figure, replicate_table
from leakscape.landscape.figures import Figure, Rank
from leakscape.landscape.inputs import Found, Measured
from leakscape.landscape.schema import Front, Landscape, Target
from leakscape.landscape.told import Told, benchmark_entries, extraction_measure, extraction_series, tell
from leakscape.scoring.metrics import METRICS
from leakscape.statistics.bootstrap import Floats
from leakscape.statistics.ranks import mean_ranks, pareto_front

RANKED = {
    "privacy": ("verbatim_perplexity", "semantic_perplexity", "exposure_bits"),
    "capability": ("held_out_perplexity", "medication_perplexity"),
}
"""The metrics behind each rank; derived ones (rank-1 share, generation probability) would count a probe twice."""

Chains = Mapping[tuple[str, str], Sequence[Found]]
"""The evidence behind each target and condition."""


def aggregate(
    measured: Sequence[Measured], found: Sequence[Found], plan: Mapping[str, Any], settings: Settings
) -> Landscape:
    """Turn raw scores into figures with intervals, differences and ranks.

    The order in which measurements and evidence are given plays no part.

    Args:
        measured: from `source.read_measurements`, so that those of a target compare, or were forced to.
        found: from `source.read_evidence`.
        plan: name, seed, targets and conditions in order, as the plan states them; may be empty.
        settings: of the bootstrap, the tests and the bound on epsilon.
    """
    order = list(_stated(plan, "targets"))
    names = sorted({item.summary.target for item in measured}, key=lambda name: _place(name, order))
    chains = {item.place: source.chain(item, found) for item in measured}
    used = {part.evidence.digest for chain in chains.values() for part in chain}
    groups = {name: [item for item in measured if item.summary.target == name] for name in names}
    entries = {**CATALOGUE, **benchmark_entries([item for group in groups.values() for item in group])}
    return Landscape(
        schema=schemas.LANDSCAPE,
        plan=dict(plan),
        resamples=settings.resamples,
        confidence=settings.confidence,
        seed=settings.seed,
        targets=[_target(name, group, chains, plan, settings) for name, group in groups.items()],
        unused_evidence=sorted(item.evidence.digest for item in found if item.evidence.digest not in used),
        delta=settings.delta,
        catalogue=entries,
    )


def _stated(plan: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    items = plan.get(key, [])
    listed = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return {str(item.get("name") or item.get("model") or ""): item for item in listed}


def _target(
    name: str, group: Sequence[Measured], chains: Chains, plan: Mapping[str, Any], settings: Settings
) -> Target:
    stated = _stated(plan, "conditions")
    order = list(stated)
    items = sorted(group, key=lambda item: _place(item.summary.condition, order))
    names = [item.summary.condition for item in items]
    told = {item.summary.condition: tell(item, chains[item.place], settings) for item in items}
    aligned = _aligned(items, settings)
    figures = _all_figures(aligned, told, settings)
    untouched = next((item.summary.condition for item in items if not item.summary.adapters), None)
    direct = "direct" if "direct" in names else None
    compared = Compared(
        entries={**CATALOGUE, **benchmark_entries(items)},
        figures=figures,
        references={
            reference: {metric: differences(item, reference, settings) for metric, item in aligned.items()}
            for reference in (untouched, direct)
            if reference
        },
        ranks={side: _ranks(aligned, side, names, settings) for side in RANKED},
    )
    summary = items[0].summary
    return Target(
        name=name,
        model=summary.model,
        revision=summary.revision,
        tokenizer_hash=summary.tokenizer_hash,
        precision=summary.precision,
        untouched=untouched,
        direct=direct,
        front=_front(figures, names),
        conditions=[
            condition(item, chains[item.place], told[key], compared, str(stated.get(key, {}).get("summary", "")))
            for key, item in zip(names, items, strict=True)
        ],
        missing=[key for key in order if key not in names],
        correlations=correlations(names, figures, _all_drawn(aligned, told), settings),
        departures=departures(items, {item.summary.condition: chains[item.place] for item in items}),
    )


def _place(name: str, order: Sequence[str]) -> tuple[int, str]:
    return (order.index(name), "") if name in order else (len(order), name)


def _aligned(items: Sequence[Measured], settings: Settings) -> dict[str, Aligned]:
    """The metrics that are paired by canary or record over conditions, by name."""
    data = {item.summary.condition: item.data for item in items}
    found = {name: align_metric(metric, data, settings) for name, metric in METRICS.items()}
    for name in EXTRACTION_RATES:
        series = {item.summary.condition: extraction_series(name, item.extractions) for item in items}
        found[name] = align(extraction_measure(name), series, settings)
    return {name: item for name, item in found.items() if item}


def _all_figures(
    aligned: Mapping[str, Aligned], told: Mapping[str, Told], settings: Settings
) -> dict[str, dict[str, Figure]]:
    """By metric, then by condition."""
    figures = {
        metric: {name: found for name in told if (found := figure(item, name, settings))}
        for metric, item in aligned.items()
    }
    for name, item in told.items():
        for metric, found in item.figures.items():
            figures.setdefault(metric, {})[name] = found
    return figures


def _all_drawn(aligned: Mapping[str, Aligned], told: Mapping[str, Told]) -> dict[str, dict[str, Floats]]:
    drawn = {metric: dict(item.drawn) for metric, item in aligned.items()}
    for name, item in told.items():
        for metric, replicates in item.drawn.items():
            drawn.setdefault(metric, {})[name] = replicates
    return drawn


def _ranks(aligned: Mapping[str, Aligned], side: str, names: list[str], settings: Settings) -> dict[str, Rank]:
    """Mean ranks over the side's metrics that every condition has; none for a single condition."""
    usable = [item for metric, item in aligned.items() if metric in RANKED[side] and len(item.samples) == len(names)]
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
