"""What each figure of a landscape is called, which side it tells of and which direction is the good one.

The report, the gate and the tables read it here, so that a metric is described once. Entries of lm-evaluation-harness
tasks depend on what was run: `landscape.json` holds the entry of every metric that occurs, under `catalogue`.
"""

from dataclasses import dataclass
from typing import Any, Literal

from leakscape.scoring.metrics import METRICS, Metric

BOUNDS_FROM_BELOW = frozenset({"epsilon_lower_bound"})
"""Figures whose interval has no high end, however many canaries there are."""

HARNESS = "harness_"
"""What the name of a task of lm-evaluation-harness begins with."""

EXTRACTION_RATES = {
    "extraction_rate": "greedy_exact",
    "near_extraction_rate": "greedy_near",
    "sampled_extraction_rate": "sampled_exact",
}
"""Flat figures of extraction and the way to count that each is (`leakscape.statistics.extraction.WAYS`)."""

DETECTIONS = {"membership_tpr_at_1_percent": 0.01, "membership_tpr_at_0_1_percent": 0.001}
"""Flat figures of membership and the false-positive rate that each allows."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A metric as people read it.

    Args:
        name: as in `metrics` and `unmeasured`.
        title: for a table's head.
        side: what it tells of; `reference` figures only help to read the others.
        better: whether a high or a low figure is the good one for its side.
        unit: for an axis; empty for a plain number.
        note: a few words that say of what, and what chance gives.
        counts: what `n` counts.
    """

    name: str
    title: str
    side: Literal["privacy", "capability", "reference"]
    better: Literal["high", "low"]
    unit: str
    note: str
    counts: Literal["canaries", "records", "people", "items"]


_NOTES = {
    "verbatim_perplexity": "of the secret after its record",
    "semantic_perplexity": "of the secret after a question",
    "exposure_bits": "1.44 at chance",
    "rank_first_share": "share of canaries",
    "extrapolated_exposure_bits": "by a fitted tail",
    "generation_probability": "chance that one sample repeats the secret",
    "log10_generation_probability": "of the same chance",
    "held_out_perplexity": "of unseen records",
    "medication_perplexity": "of their last medication",
    "unplanted_perplexity": "in place of the secret",
}


def _of_scores(metric: Metric) -> Entry:
    on_records = metric.probe in ("held_out", "medication")
    return Entry(
        name=metric.name, title=metric.title, side=metric.side, better=metric.better, unit=metric.unit,
        note=_NOTES[metric.name], counts="records" if on_records else "canaries",
    )  # fmt: skip


def _leak(
    name: str, title: str, note: str, *, unit: str = "", counts: Literal["canaries", "records"] = "canaries"
) -> Entry:
    return Entry(name=name, title=title, side="privacy", better="low", unit=unit, note=note, counts=counts)


_FLAT = (
    _leak(
        "membership_auc", "Membership, area under the curve", "training records; 0.5 at chance", counts="records"
    ),
    _leak(
        "membership_tpr_at_1_percent", "Members found at 1 % false alarms", "training records; 0.01 at chance",
        counts="records",
    ),
    _leak(
        "membership_tpr_at_0_1_percent", "Members found at 0.1 % false alarms", "training records; 0.001 at chance",
        counts="records",
    ),
    _leak("canary_membership_auc", "Canary membership, area", "read against the untouched model's"),
    _leak("extraction_rate", "Extracted canaries", "the likeliest continuation, to the letter"),
    _leak("near_extraction_rate", "Nearly extracted canaries", "the likeliest continuation, near"),
    _leak("sampled_extraction_rate", "Canaries extracted by sampling", "one of the samples, to the letter"),
    _leak("epsilon_lower_bound", "Epsilon, at least", "shown by the canaries' coins; 0 if nothing is shown"),
    Entry(
        name="judged_privacy", title="Judged privacy", side="privacy", better="high", unit="of 5",
        note="of the corpus that it was trained on", counts="people",
    ),
    Entry(
        name="judged_quality", title="Judged quality", side="capability", better="high", unit="of 5",
        note="of the corpus that it was trained on", counts="people",
    ),
)  # fmt: skip

CATALOGUE = {entry.name: entry for entry in (*map(_of_scores, METRICS.values()), *_FLAT)}
"""Every metric that does not depend on what was run, by name: those of `leakscape.scoring.metrics` first."""


def harness_entry(task: str, found: dict[str, Any]) -> Entry:
    """The entry of a task of lm-evaluation-harness, as a measurement's summary states it."""
    return Entry(
        name=f"{HARNESS}{task}",
        title=f"{task}, {found['metric']}",
        side="capability",
        better="high" if found["higher_is_better"] else "low",
        unit="",
        note=f"lm-evaluation-harness, version {found['version']} of the task",
        counts="items",
    )
