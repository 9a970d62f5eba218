"""What a landscape says of the artifacts behind a condition: how it was made, judged and audited, and what it cost."""

from dataclasses import dataclass
from typing import Any, Literal

from leakscape.landscape.figures import Estimate


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """An artifact of the chain that led to a condition, from its manifest and summary."""

    kind: Literal["training log", "masks", "ledger", "judgements", "disclosures"]
    digest: str
    component: str
    arguments: dict[str, Any]
    inputs: dict[str, Any]
    versions: dict[str, str]
    details: dict[str, Any]
    seconds: dict[str, float]
    summary: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Made:
    """How the figures of a condition were made: enough to find every artifact behind them."""

    measurements: str
    adapters: list[str]
    corpora: list[str]
    inputs: dict[str, Any]
    arguments: dict[str, Any]
    versions: dict[str, str]
    settings: dict[str, Any]
    evidence: list[Evidence]


@dataclass(frozen=True, kw_only=True)
class Probe:
    """How many rows a probe has, how many begin within a token, and what has no score."""

    scored: int
    straddling: int
    unscorable: list[dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A judge's opinion of a corpus, from 1 to 5; null where no record could be judged on that side."""

    judge: str
    corpus: str
    records: int
    privacy: Estimate | None
    quality: Estimate | None
    reasons: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Disclosed:
    """Rare features of one type that a corpus shows: of people that it was made from, and of people it never saw.

    `beyond_chance` counts hits on train less those that the rate of phantoms leads to expect.
    """

    corpus: str
    feature: str
    train: Estimate
    held_out: Estimate
    beyond_chance: float
    p: float
    p_holm: float


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a step that asks a model took: answers by outcome, tokens, money in the currency of its prices, seconds."""

    component: str
    answers: dict[str, int]
    quarantined: int
    tokens_in: int
    tokens_out: int
    cost: float
    seconds: float | None
