"""What a single measurement tells besides its scores: attacks, extraction, judges, costs and benchmarks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leakscape.landscape.attacked import Extraction
from leakscape.landscape.attacks import NOT_TRIED, Attacked, attacked, extracted
from leakscape.landscape.catalogue import EXTRACTION_RATES, HARNESS, Entry, harness_entry
from leakscape.landscape.comparable import harness
from leakscape.landscape.estimates import Measure, Series, Settings
from leakscape.landscape.evidence import costs, disclosed, flat, opinions
from leakscape.landscape.figures import Figure
from leakscape.landscape.inputs import Found, Measured
from leakscape.landscape.traced import Cost, Disclosed, Judged
from leakscape.scoring.attack_rows import ExtractionRow
from leakscape.statistics.bootstrap import Floats
from leakscape.statistics.extraction import WAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Of one condition; `figures` and `gaps` hold flat metrics or why there is none, `drawn` replicates of some."""

    membership: Attacked
    extraction: list[Extraction]
    judged: list[Judged]
    disclosed: list[Disclosed]
    costs: list[Cost]
    privacy: dict[str, Any]
    figures: dict[str, Figure]
    gaps: dict[str, str]
    drawn: dict[str, Floats]


def tell(item: Measured, chain: Sequence[Found], settings: Settings) -> Told:
    """Everything of one condition that needs no other one.

    The bound on epsilon is held against the delta that its training claimed, and against the settings' elsewhere.
    """
    privacy = privacy_of(chain)
    claimed = privacy.get("delta")
    delta = float(claimed) if isinstance(claimed, (int, float)) else settings.delta
    membership = attacked(item.attacks, delta=delta, confidence=settings.confidence)
    said = opinions(chain, settings)
    judged, unjudged, drawn = flat(chain, said, trained=bool(item.summary.adapters))
    benchmarks, failed = _benchmarks(item, settings)
    return Told(
        membership=membership,
        extraction=extracted(item.extractions, confidence=settings.confidence),
        judged=[one.judged for one in said],
        disclosed=disclosed(chain, confidence=settings.confidence),
        costs=costs(chain),
        privacy=privacy,
        figures={**membership.figures, **judged, **benchmarks},
        gaps={**membership.gaps, **unjudged, **failed, **_extraction_gaps(item.extractions)},
        drawn=drawn,
    )


def privacy_of(chain: Sequence[Found]) -> dict[str, Any]:
    """The privacy that training spent, as the log's summary states it; empty without."""
    logs = (found for found in chain if found.evidence.kind == "training log")
    stated = (log.evidence.summary.get("privacy") for log in logs)
    return next((privacy for privacy in stated if isinstance(privacy, dict)), {})


def extraction_measure(name: str) -> Measure:
    """A rate of extraction, to be aligned over conditions."""
    return Measure(name=name, probe=f"extraction/{EXTRACTION_RATES[name]}", better="low", share=True)


def extraction_series(name: str, rows: Sequence[ExtractionRow]) -> Series:
    """A 1 for each canary that was extracted in the way that the rate counts, a 0 for each other one."""
    hit = WAYS[EXTRACTION_RATES[name]]
    counted = [] if name in _extraction_gaps(rows) else rows
    copies = {row.id: row.multiplicity for row in counted}
    hits = {row.id for row in counted if hit(row)}
    return Series(
        groups=tuple(copies),
        multiplicity=np.array(list(copies.values()), dtype=np.int64),
        values=np.array([float(canary in hits) for canary in copies], dtype=np.float64),
    )


def _extraction_gaps(rows: Sequence[ExtractionRow]) -> dict[str, str]:
    if not rows:
        return dict.fromkeys(EXTRACTION_RATES, NOT_TRIED)
    if not any(row.multiplicity for row in rows):
        return dict.fromkeys(EXTRACTION_RATES, "no canary was planted")
    sampled = [name for name, way in EXTRACTION_RATES.items() if way.startswith("sampled")]
    return {} if any(row.number for row in rows) else dict.fromkeys(sampled, "no continuation was drawn")


def benchmark_entries(items: Sequence[Measured]) -> dict[str, Entry]:
    """The entries of all tasks of lm-evaluation-harness that some condition ran."""
    found = (harness_entry(task, result) for item in items for task, result in harness(item).items())
    entries: Mapping[str, Entry] = {entry.name: entry for entry in found}
    return dict(sorted(entries.items()))


def _benchmarks(item: Measured, settings: Settings) -> tuple[dict[str, Figure], dict[str, str]]:
    """A task's figure with the normal interval of its standard error."""
    from scipy.special import ndtri

    reach = float(ndtri((1 + settings.confidence) / 2))
    figures, gaps = {}, {}
    for task, result in harness(item).items():
        name, value, error = f"{HARNESS}{task}", float(result["value"]), result.get("stderr")
        if not math.isfinite(value):
            gaps[name] = "the task gave no finite value"
            continue
        arm = reach * float(error) if isinstance(error, (int, float)) else math.nan
        low, high = (value - arm, value + arm) if math.isfinite(arm) else (None, None)
        figures[name] = Figure(value=value, low=low, high=high, n=int(result["n"]))
    return figures, gaps
