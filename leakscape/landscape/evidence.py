"""What judges, corpus audits and ledgers say of the corpora behind a condition."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leakscape.landscape.estimates import Settings, seed_of
from leakscape.landscape.figures import Estimate, Figure
from leakscape.landscape.inputs import Found
from leakscape.landscape.traced import Cost, Disclosed, Evidence, Judged
from leakscape.statistics.binomial import share_interval
from leakscape.statistics.bootstrap import Floats, Sample, interval, replicates

FLAT = {"judged_privacy": "privacy", "judged_quality": "quality"}
"""Flat figures and the aspect that each is of."""

_UNTRAINED = "nothing was trained on"
_UNJUDGED = "no judge scored the corpus that it was trained on"


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge said of one corpus; `drawn` holds replicates of each aspect's mean, (R,)."""

    judged: Judged
    drawn: dict[str, Floats]

    def estimate(self, aspect: str) -> Estimate | None:
        """The mean of an aspect; None where no record has a score."""
        return self.judged.privacy if aspect == "privacy" else self.judged.quality


def opinions(chain: Sequence[Found], settings: Settings) -> list[Opinion]:
    """What judges said of the corpora of a condition; several rewrites of one person's record are drawn together."""
    return [_opinion(found, settings) for found in chain if found.judgements]


def flat(
    chain: Sequence[Found], said: Sequence[Opinion], *, trained: bool
) -> tuple[dict[str, Figure], dict[str, str], dict[str, Floats]]:
    """Judged figures of the last corpus before training.

    A language model's opinion goes before that of the rules; of several, the first by digest is taken.

    Returns:
        Figures, reasons for those that there are none of, and replicates.
    """
    if not trained:
        return {}, dict.fromkeys(FLAT, _UNTRAINED), {}
    last = next((found.corpora for found in reversed(chain) if found.evidence.kind == "training log"), [])
    of_last = [item for item in said if item.judged.corpus in last]
    of_last.sort(key=lambda item: item.judged.judge.startswith("rules"))
    if not of_last:
        return {}, dict.fromkeys(FLAT, _UNJUDGED), {}
    figures, gaps, drawn = {}, {}, {}
    for name, aspect in FLAT.items():
        found = of_last[0].estimate(aspect)
        if found is None:
            gaps[name] = f"no record of the corpus holds what {aspect} is judged by"
            continue
        figures[name] = Figure(value=found.value, low=found.low, high=found.high, n=found.n)
        drawn[name] = of_last[0].drawn[aspect]
    return figures, gaps, drawn


def _opinion(found: Found, settings: Settings) -> Opinion:
    people = {person: place for place, person in enumerate(sorted({row.person for row in found.judgements}))}
    estimates: dict[str, Estimate | None] = {}
    drawn: dict[str, Floats] = {}
    for aspect in FLAT.values():
        scored = [row for row in found.judgements if getattr(row, aspect) is not None]
        places = np.array([people[row.person] for row in scored], dtype=np.int64)
        scores = np.array([getattr(row, aspect) for row in scored], dtype=np.float64)
        seed = seed_of(settings, "judged", aspect)
        estimates[aspect], replicated = _mean(places, scores, len(people), seed, settings)
        if replicated is not None:
            drawn[aspect] = replicated
    judged = Judged(
        judge=_judge(found.evidence),
        corpus=found.corpora[0] if found.corpora else "",
        records=len(found.judgements),
        privacy=estimates["privacy"],
        quality=estimates["quality"],
        reasons=dict(sorted(Counter(row.reason for row in found.judgements).items())),
    )
    return Opinion(judged, drawn)


def _mean(
    places: NDArray[np.int64], scores: Floats, people: int, seed: list[int], settings: Settings
) -> tuple[Estimate | None, Floats | None]:
    if not scores.size:
        return None, None
    sums = np.bincount(places, weights=scores, minlength=people).astype(np.float64)
    counts = np.bincount(places, minlength=people).astype(np.float64)
    sample = Sample(sums, counts, np.zeros(people, dtype=np.int64))
    drawn = replicates([sample], resamples=settings.resamples, seed=seed)[0]
    low, high = interval(sample, drawn, confidence=settings.confidence) or (None, None)
    return Estimate(value=sample.mean, low=low, high=high, n=int(np.count_nonzero(counts))), drawn


def _judge(evidence: Evidence) -> str:
    """The judge's model, or the version of the rules."""
    return str(evidence.summary.get("model") or evidence.arguments.get("model") or evidence.component)


def disclosed(chain: Sequence[Found], *, confidence: float) -> list[Disclosed]:
    """What audits of the corpora found, type by type; intervals are made anew at the landscape's level."""
    return [
        Disclosed(
            corpus=found.corpora[0] if found.corpora else "",
            feature=feature,
            train=_rate(counts["train"], confidence),
            held_out=_rate(counts["held_out"], confidence),
            beyond_chance=float(counts["beyond_chance"]),
            p=float(counts["p"]),
            p_holm=float(counts["p_holm"]),
        )
        for found in chain
        if found.evidence.kind == "disclosures"
        for feature, counts in found.evidence.summary.get("types", {}).items()
    ]


def _rate(counts: Mapping[str, Any], confidence: float) -> Estimate:
    hits, n = int(counts["hits"]), int(counts["n"])
    low, high = share_interval(hits, n, confidence=confidence)
    return Estimate(value=hits / n, low=low, high=high, n=n)


def costs(chain: Sequence[Found]) -> list[Cost]:
    """What rewriting and judging took, for each step that asked for answers."""
    return [
        _cost(found.evidence)
        for found in chain
        if found.evidence.kind in ("ledger", "judgements") and found.evidence.summary.get("answers")
    ]


def _cost(evidence: Evidence) -> Cost:
    summary = evidence.summary
    return Cost(
        component=evidence.component,
        answers={str(outcome): int(count) for outcome, count in summary["answers"].items()},
        quarantined=len(summary.get("quarantined", {})),
        tokens_in=int(summary.get("tokens_in", 0)),
        tokens_out=int(summary.get("tokens_out", 0)),
        cost=float(summary.get("cost", 0.0)),
        seconds=evidence.seconds.get("calls"),
    )
