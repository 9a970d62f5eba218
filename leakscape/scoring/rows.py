"""What a measurement is made of: a row for each scored text, and a summary of what it was measured on."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

PROBES = ("verbatim", "semantic", "held_out", "medication", "exposure", "unplanted")
"""In the order of the rows; docs/metrics.md defines each one."""

_POSITIVE_SLACK = 1e-5  # a probability of 1 summed in float32 may end a hair above 0 nats


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scored text.

    Args:
        probe: one of `PROBES`.
        id: unique within its probe: a canary's id, a held-out record's id, or `canary-007/unplanted-2`.
        group: what the row is resampled with: the canary's or the record's id.
        multiplicity: copies of the canary in the corpus, 0 for one left out; None for held-out records.
        tokens: how many tokens were scored, at least 1.
        log_likelihood: their sum, in nats, at most 0.
        straddles: whether the first scored token begins before the target does.
        rank: place of the secret among the candidates, 1 for the likeliest, the mean place on ties; exposure only.
        candidates: how many were ranked, the secret included; exposure only.
        extrapolated: exposure in bits by a skew-normal fit; None where there is no fit, and elsewhere.
    """

    probe: str
    id: str
    group: str
    multiplicity: int | None
    tokens: int
    log_likelihood: float
    straddles: bool
    rank: float | None = None
    candidates: int | None = None
    extrapolated: float | None = None


@dataclass(frozen=True, slots=True)
class Unscorable:
    """What has no score, and why; it is left out of every mean."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSummary:
    """How many rows a probe has, how many of them begin within a token, and what has no score."""

    scored: int
    straddling: int = 0
    unscorable: tuple[Unscorable, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was measured, on what, and how.

    Args:
        target: the target's name in the plan.
        condition: the condition's name in the plan.
        model: the base model's id, or the last part of its path.
        revision: of the model; empty for the default one.
        tokenizer_hash: of the tokenizer's files; figures compare only between equal ones.
        precision: of the weights (`float32`, `bfloat16`, ...).
        device: what it ran on (`cpu`, `cuda`).
        chat: whether texts were put into the model's chat template.
        prompt_hash: of everything that we put around the texts: the question of the semantic probe and, for chat
            models, the template and the user's turn; empty where an older version did not say.
        world_size: processes that scored.
        adapters: digests of the adapters, in the order applied; empty for the untouched model.
        batch_size: texts scored at once.
        held_out_limit: the most held-out records that were scored; 0 for all.
        probes: by name.
        details: further settings and counts (seed, alternatives ranked, prefix tokens shared).
    """

    target: str
    condition: str
    model: str
    revision: str
    tokenizer_hash: str
    precision: str
    device: str
    chat: bool
    adapters: tuple[str, ...]
    batch_size: int
    held_out_limit: int
    probes: dict[str, ProbeSummary]
    prompt_hash: str = ""
    world_size: int = 1
    details: dict[str, Any] = field(default_factory=dict)


def fault(row: Row) -> str:
    """What can't be in a row, in a few words; empty for a sound one."""
    ranked = row.rank is not None and row.candidates is not None
    faults = {
        "probe is none that this version knows": row.probe not in PROBES,
        "tokens must be at least 1: what has no token has no score": row.tokens < 1,
        "log_likelihood must be a number of nats, at most 0": not _is_log_likelihood(row.log_likelihood),
        "multiplicity must be at least 0": row.multiplicity is not None and row.multiplicity < 0,
        "rank and candidates come together": (row.rank is None) != (row.candidates is None),
        "the exposure probe, and no other, has rank and candidates": ranked != (row.probe == "exposure"),
        "rank must lie between 1 and candidates": ranked and not 1 <= (row.rank or 0) <= (row.candidates or 0),
        "extrapolated must be a number of bits, at least 0": row.extrapolated is not None
        and not 0 <= row.extrapolated < math.inf,
        "extrapolated belongs to the exposure probe": row.extrapolated is not None and not ranked,
    }
    return next((words for words, holds in faults.items() if holds), "")


def probe_summaries(rows: Iterable[Row], unscorable: Mapping[str, Iterable[Unscorable]]) -> dict[str, ProbeSummary]:
    """Count the rows of each probe that has a row or something unscorable."""
    rows = tuple(rows)
    scored = Counter(row.probe for row in rows)
    straddling = Counter(row.probe for row in rows if row.straddles)
    return {
        probe: ProbeSummary(
            scored=scored[probe], straddling=straddling[probe], unscorable=tuple(unscorable.get(probe, ()))
        )
        for probe in PROBES
        if scored[probe] or unscorable.get(probe)
    }


def _is_log_likelihood(value: float) -> bool:
    return math.isfinite(value) and value <= _POSITIVE_SLACK
