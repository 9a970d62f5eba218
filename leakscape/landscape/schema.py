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
class Condition:
    """One row of the comparison.

    Args:
        metrics, unmeasured: every metric stands in one of them.
        differences: by reference condition, then by metric.
        ranks: by side, `privacy` and `capability`.
        exposure_counts: canaries by whole bits of exposure, empty where it was not measured.
        losses: step and loss of the training log, at most 200 points, each the mean of the steps since the last.
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
