"""landscape.json, typed. docs/landscape.md explains it key by key."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError

FILE = "landscape.json"


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure from n canaries or records; `low` and `high` are null where fewer than two tell no spread."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class Figure(Estimate):
    """A metric of a condition, over all and by multiplicity."""

    by_multiplicity: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Difference(Estimate):
    """A metric against the same one of a reference condition, paired by canary or record.

    Args:
        scale: `ratio` (this condition over the reference; 1 is no difference) or `difference` (0 is none).
        p: two-sided sign-flip test.
        p_holm: p corrected over the conditions that are compared with this reference by this metric.
        by_multiplicity: the same within each multiplicity, untested.
    """

    scale: Literal["ratio", "difference"]
    p: float
    p_holm: float
    by_multiplicity: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Unmeasured:
    """A metric that has no figure, and why."""

    metric: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Rank:
    """The mean rank over the metrics of a side, 1 the best, and where it lies in resamples."""

    value: float
    low: float
    high: float
    metrics: int


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
class Detected(Estimate):
    """The share of members (n) that an attack finds where at most `allowed` of the others raise a false alarm.

    `resolved` is false where the others are too few for one of them to be that share: nothing is then known of how
    rarely one passes the threshold.
    """

    allowed: float
    resolved: bool


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A membership attack on one kind of member.

    Args:
        attack: its name.
        primary: whether it is the one, named in advance, that `metrics` and the bound on epsilon use.
        members, others: `canary` or `record`: who is told from whom.
        auc: area under the curve; n counts members.
        others_count: how many others there are.
        detected: at a false-positive rate of 1 % and of 0.1 %.
        curve: false-positive and true-positive rate, at most 200 points.
        by_multiplicity: the area for the canaries with so many copies.
    """

    attack: str
    primary: bool
    members: Literal["canary", "record"]
    others: Literal["canary", "record"]
    auc: Estimate
    others_count: int
    detected: list[Detected]
    curve: list[tuple[float, float]]
    by_multiplicity: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """The share of canaries that the model told when it went on where the secret begins, in one way to count.

    Args:
        way: `greedy_exact`, `greedy_near`, `sampled_exact` or `sampled_near`.
        planted: of the canaries with copies; null where there is none.
        left_out: of the canaries that a coin left out; null where there is none.
        by_multiplicity: of the canaries with so many copies.
    """

    way: str
    planted: Estimate | None
    left_out: Estimate | None
    by_multiplicity: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EpsilonBound:
    """What the canaries' coins show: epsilon is at least this (Steinke et al. 2023).

    `copies` lists the multiplicities of the canaries that are in: only where it is [1] does the bound hold for a single
    record.
    """

    attack: str
    epsilon: float
    canaries: int
    guesses: int
    right: int
    delta: float
    confidence: float
    copies: list[int]


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


@dataclass(frozen=True, kw_only=True)
class Correlation(Estimate):
    """Spearman's coefficient of two metrics over the conditions (n).

    `low` and `high` tell what other conditions would have given; `drawn_low` and `drawn_high` what other canaries and
    records would have. `x` and `y` name metrics; `p` is two-sided, by permutation.
    """

    x: str
    y: str
    p: float
    drawn_low: float | None
    drawn_high: float | None


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One row of the comparison.

    Args:
        metrics, unmeasured: every metric stands in one of them.
        differences: by reference condition, then by metric.
        ranks: by side, `privacy` and `capability`.
        exposure_counts: canaries by whole bits of exposure, empty where it was not measured.
        losses: step and loss of the training log, at most 200 points, each the mean of the steps since the last.
        privacy: what training spent, as the training log states it; empty without DP-SGD.
        attacks, extraction: empty where none was run.
        epsilon_bound: null without canaries that a coin left out.
        judged, disclosed, costs: of the corpora and rewriting behind the condition.
    """

    name: str
    summary: str
    trained: bool
    metrics: dict[str, Figure]
    unmeasured: list[Unmeasured]
    differences: dict[str, dict[str, Difference]]
    ranks: dict[str, Rank]
    probes: dict[str, Probe]
    exposure_counts: list[int]
    losses: list[tuple[int, float]]
    training_seconds: float | None
    privacy: dict[str, Any]
    made: Made
    attacks: list[Attack] = field(default_factory=list)
    extraction: list[Extraction] = field(default_factory=list)
    epsilon_bound: EpsilonBound | None = None
    judged: list[Judged] = field(default_factory=list)
    disclosed: list[Disclosed] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Front:
    """The conditions that no other one beats in both metrics."""

    privacy: str
    capability: str
    conditions: list[str]


@dataclass(frozen=True, kw_only=True)
class Target:
    """All conditions of one model; figures compare within it only.

    Args:
        untouched: the name of the condition without training; null where there is none.
        direct: the name of the condition that others are compared with; null where there is none.
        missing: conditions of the plan without a measurement.
        correlations: over the conditions, for the pairs of metrics that the paper correlates.
        departures: what does not compare and was put together all the same, in sentences; empty unless forced.
    """

    name: str
    model: str
    revision: str
    tokenizer_hash: str
    precision: str
    untouched: str | None
    direct: str | None
    front: Front | None
    conditions: list[Condition]
    missing: list[str]
    correlations: list[Correlation] = field(default_factory=list)
    departures: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Landscape:
    """What landscape.json holds."""

    schema: str
    plan: dict[str, Any]
    resamples: int
    confidence: float
    seed: int
    targets: list[Target]
    unused_evidence: list[str]


def read(path: Path) -> Landscape:
    """Open and verify a landscape artifact.

    Raises:
        ArtifactError: the schema is another, or a key does not fit.
    """
    artifact = artifacts.load(path, schema=schemas.LANDSCAPE)
    try:
        return TypeAdapter(Landscape).validate_json(artifact.file(FILE).read_bytes(), strict=True)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"]) or "the document"
        raise ArtifactError(f"{artifact.path / FILE}: {place} does not fit; make the landscape again.") from None
