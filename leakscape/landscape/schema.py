"""landscape.json, typed. docs/landscape.md explains it key by key."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError
from leakscape.landscape.attacked import Attack, Detected, EpsilonBound, Extraction
from leakscape.landscape.catalogue import Entry
from leakscape.landscape.figures import Correlation, Difference, Estimate, Figure, GroupDifference, Rank, Unmeasured
from leakscape.landscape.traced import Cost, Disclosed, Evidence, Judged, Made, Probe
from leakscape.typed_json import field_of

__all__ = [
    "FILE",
    "Attack",
    "Condition",
    "Correlation",
    "Cost",
    "Detected",
    "Difference",
    "Disclosed",
    "Entry",
    "EpsilonBound",
    "Estimate",
    "Evidence",
    "Extraction",
    "Figure",
    "Front",
    "GroupDifference",
    "Judged",
    "Landscape",
    "Made",
    "Probe",
    "Rank",
    "Target",
    "Unmeasured",
    "read",
]

FILE = "landscape.json"


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
        departures: in sentences, what does not compare and was put together all the same (only where that was forced),
            and what a reader must know of how conditions were scored, trained and judged.
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
    """What landscape.json holds.

    Args:
        delta: that bounds on epsilon are held against where a training claims none.
        catalogue: title, side, direction and unit of every metric, by name; also of the benchmarks that were run.
    """

    schema: str
    plan: dict[str, Any]
    resamples: int
    confidence: float
    seed: int
    targets: list[Target]
    unused_evidence: list[str]
    delta: float = 1e-5
    catalogue: dict[str, Entry] = field(default_factory=dict)


def read(path: Path) -> Landscape:
    """Open and verify a landscape artifact.

    Raises:
        ArtifactError: the schema is another, or a key does not fit.
    """
    artifact = artifacts.load(path, schema=schemas.LANDSCAPE)
    try:
        found = TypeAdapter(Landscape).validate_json(json.dumps(artifact.json(FILE)), strict=True)
    except ValidationError as error:
        raise ArtifactError(
            f"{artifact.path / FILE}: {field_of(error)} does not fit; make the landscape again."
        ) from None
    if found.schema != schemas.LANDSCAPE:
        raise ArtifactError(f"{artifact.path / FILE} does not hold {schemas.LANDSCAPE}; make the landscape again.")
    return found
