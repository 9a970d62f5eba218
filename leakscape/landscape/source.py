"""Reads measurements and evidence, finds what belongs together and refuses what does not compare."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from leakscape import artifacts, schemas
from leakscape.artifacts import Manifest
from leakscape.errors import ArtifactError
from leakscape.landscape.schema import Evidence
from leakscape.scoring import measurements
from leakscape.scoring.measurements import Measurements
from leakscape.scoring.rows import Summary

Kind = Literal["training log", "masks", "ledger", "judgements", "disclosures"]
_KINDS: dict[str, tuple[Kind, str]] = {
    schemas.TRAINING_LOG: ("training log", "summary.json"),
    schemas.MASKS: ("masks", "residual.json"),
    schemas.LEDGER: ("ledger", "summary.json"),
    schemas.JUDGEMENTS: ("judgements", "summary.json"),
    schemas.DISCLOSURES: ("disclosures", "disclosures.json"),
}

_MAKERS = ("masks", "ledger")
_JUDGES = ("judgements", "disclosures")

MOST_POINTS = 200
"""Points of a loss curve that the landscape keeps."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurements artifact."""

    path: Path
    manifest: Manifest
    data: Measurements

    @property
    def summary(self) -> Summary:
        """What it was measured on."""
        return self.data.summary

    @property
    def place(self) -> tuple[str, str]:
        """Target and condition."""
        return self.summary.target, self.summary.condition


@dataclass(frozen=True, slots=True)
class Found:
    """One artifact of evidence; `losses` of a training log."""

    evidence: Evidence
    losses: list[tuple[int, float]]


def read_measurements(paths: Iterable[Path]) -> list[Measured]:
    """Open every measurement and check that those of one target compare.

    Raises:
        ArtifactError: none is given, two are of the same target and condition, or two of one target were made on
            other models, tokenizers, precisions or canaries.
    """
    found = [Measured(path, artifacts.read_manifest(path), measurements.read(path)) for path in paths]
    if not found:
        raise ArtifactError("a landscape needs at least one measurement.")
    targets: dict[str, list[Measured]] = defaultdict(list)
    seen: dict[tuple[str, str], Path] = {}
    for measured in found:
        if measured.place in seen:
            raise ArtifactError(
                f"{seen[measured.place]} and {measured.path} both measure {' · '.join(measured.place)}; give one."
            )
        seen[measured.place] = measured.path
        targets[measured.place[0]].append(measured)
    for group in targets.values():
        for other in group[1:]:
            _check_comparable(group[0], other)
    return found


def _check_comparable(one: Measured, other: Measured) -> None:
    for name in ("model", "revision", "tokenizer_hash", "precision", "chat"):
        if getattr(one.summary, name) != getattr(other.summary, name):
            raise ArtifactError(
                f"{one.path} ({one.place[1]}) and {other.path} ({other.place[1]}) differ in {name}, so their figures "
                f"do not compare; measure both alike or make them two targets."
            )
    for probe in one.summary.probes.keys() & other.summary.probes.keys():
        copies, theirs = _copies(one, probe), _copies(other, probe)
        same = all(copies[name] == theirs[name] for name in copies.keys() & theirs.keys())
        if not same or _ids(one, probe) != _ids(other, probe):
            raise ArtifactError(
                f"{one.path} ({one.place[1]}) and {other.path} ({other.place[1]}) have different ids or multiplicities "
                f"in the probe {probe}, so they can't be compared pair by pair; measure both on the same artifacts."
            )


def _ids(measured: Measured, probe: str) -> set[str]:
    """Every id of a probe, scored or not."""
    left_out = (row.id for row in measured.summary.probes[probe].unscorable)
    return {*(row.id for row in measured.data.of(probe)), *left_out}


def _copies(measured: Measured, probe: str) -> dict[str, int | None]:
    """The multiplicity of everything that was scored in a probe."""
    return {row.id: row.multiplicity for row in measured.data.of(probe)}


def read_evidence(paths: Iterable[Path]) -> list[Found]:
    """Open training logs, masks, ledgers, judgements and disclosures.

    Raises:
        ArtifactError: an artifact is of another kind, or its summary is no JSON object.
    """
    return [_read_evidence(path) for path in paths]


def _read_evidence(path: Path) -> Found:
    schema = artifacts.read_manifest(path).schema
    if schema not in _KINDS:
        raise ArtifactError(
            f"{path} holds {schema}; evidence is a training log, masks, a ledger, judgements or disclosures."
        )
    kind, file = _KINDS[schema]
    artifact = artifacts.load(path, schema=schema)
    summary = artifact.json(file) if file in artifact.manifest.files else {}
    if not isinstance(summary, dict):
        raise ArtifactError(f"{path / file} must hold a JSON object.")
    made = artifact.manifest
    evidence = Evidence(
        kind=kind, digest=made.digest, component=made.component, arguments=made.arguments, inputs=made.inputs,
        versions=made.versions, details=made.details, seconds=made.seconds, summary=summary,
    )  # fmt: skip
    return Found(evidence, _losses(artifact) if schema == schemas.TRAINING_LOG else [])


def _losses(artifact: artifacts.Artifact) -> list[tuple[int, float]]:
    if "steps.jsonl" not in artifact.manifest.files:
        return []
    rows = artifact.rows("steps.jsonl", dict[str, Any])
    points = [(int(row["step"]), float(row["loss"])) for row in rows if row.get("loss") is not None and "step" in row]
    size = -(-len(points) // MOST_POINTS) or 1
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    return [(part[-1][0], sum(loss for _, loss in part) / len(part)) for part in parts]


def chain(measured: Measured, found: Sequence[Found]) -> list[Found]:
    """The evidence behind a measurement, the corpus steps first: matched by the digests in the manifests.

    A training log names the adapter that it made, masks and ledgers the corpus; both name in their inputs the corpus
    that they read. Judgements and disclosures speak of a corpus and stand at the end.
    """
    adapters = set(_digests(measured.manifest.inputs.get("adapters")))
    makers = [item for item in found if item.evidence.kind in _MAKERS]
    behind = [item for item in found if adapters & set(_digests(item.evidence.details.get("adapter")))]
    wanted = [digest for item in behind for digest in _corpora(item)]
    while wanted:
        steps = [item for item in makers if set(wanted) & set(_digests(item.evidence.details.get("corpus")))]
        steps = [item for item in steps if item not in behind]
        behind = [*steps, *behind]
        wanted = [digest for item in steps for digest in _corpora(item)]
    known = set(corpora(behind))
    of_corpora = [item for item in found if item.evidence.kind in _JUDGES and known & set(_corpora(item))]
    return [*behind, *of_corpora]


def corpora(behind: Sequence[Found]) -> list[str]:
    """The digests of the corpora of a chain, the first one first."""
    return list(dict.fromkeys(digest for item in behind for digest in _corpora(item)))


def _corpora(item: Found) -> list[str]:
    return _digests(item.evidence.inputs.get("corpus"))


def _digests(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
