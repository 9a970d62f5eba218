"""Reads measurements and evidence, finds what belongs together and refuses what does not compare."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError
from leakscape.judging.judgement import Judgement
from leakscape.landscape.comparable import faults
from leakscape.landscape.inputs import Found, Measured, digests
from leakscape.landscape.traced import Evidence
from leakscape.scoring import measurements
from leakscape.scoring.attack_rows import read_attacks, read_extractions

__all__ = ["MOST_POINTS", "Found", "Measured", "chain", "corpora", "read_evidence", "read_measurements"]

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


def read_measurements(paths: Iterable[Path], *, force: bool = False) -> list[Measured]:
    """Open every measurement, each once, and check that those of one target compare.

    Args:
        paths: of the artifacts.
        force: take what does not compare too; `comparable.departures` then says what it is.

    Raises:
        ArtifactError: none is given, two are of the same target and condition, or two of one target differ in what
            must be equal (see `comparable`) and `force` is not set.
    """
    found = [_read_measured(path) for path in paths]
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
    if not force:
        for group in targets.values():
            for other in group[1:]:
                _refuse_faults(group[0], other)
    return found


def _read_measured(path: Path) -> Measured:
    artifact = artifacts.load(path, schema=schemas.MEASUREMENTS)
    return Measured(
        path, artifact.manifest, measurements.read(artifact), read_attacks(artifact), read_extractions(artifact)
    )


def _refuse_faults(one: Measured, other: Measured) -> None:
    for fault in faults(one, other):
        raise ArtifactError(
            f"{one.path} ({one.place[1]}) and {other.path} ({other.place[1]}) {fault}, so their figures do not "
            "compare; measure both alike on the same artifacts, make them two targets, or set --force true to compare "
            "them all the same."
        )


def read_evidence(paths: Iterable[Path]) -> list[Found]:
    """Open training logs, masks, ledgers, judgements and disclosures.

    Raises:
        ArtifactError: an artifact is of another kind, its summary is no JSON object, or a judgement does not fit.
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
    return Found(evidence, _losses(artifact), _judgements(artifact))


def _losses(artifact: artifacts.Artifact) -> list[tuple[int, float]]:
    if artifact.manifest.schema != schemas.TRAINING_LOG or "steps.jsonl" not in artifact.manifest.files:
        return []
    rows = artifact.rows("steps.jsonl", dict[str, Any])
    points = [(int(row["step"]), float(row["loss"])) for row in rows if row.get("loss") is not None and "step" in row]
    size = -(-len(points) // MOST_POINTS) or 1
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    return [(part[-1][0], sum(loss for _, loss in part) / len(part)) for part in parts]


def _judgements(artifact: artifacts.Artifact) -> tuple[Judgement, ...]:
    if artifact.manifest.schema != schemas.JUDGEMENTS or "judgements.jsonl" not in artifact.manifest.files:
        return ()
    return tuple(artifact.rows("judgements.jsonl", Judgement))


def chain(measured: Measured, found: Sequence[Found]) -> list[Found]:
    """The evidence behind a measurement, the corpus steps first: matched by the digests in the manifests.

    A training log names the adapter that it made, masks and ledgers the corpus; both name in their inputs the corpus
    that they read. Judgements and disclosures speak of a corpus and stand at the end. The order in which evidence was
    given plays no part.
    """
    found = sorted(found, key=lambda item: (item.evidence.kind, item.evidence.component, item.evidence.digest))
    adapters = digests(measured.manifest.inputs.get("adapters"))
    makers = [item for item in found if item.evidence.kind in _MAKERS]
    behind = [item for one in adapters for item in found if one in digests(item.evidence.details.get("adapter"))]
    wanted = [digest for item in behind for digest in item.corpora]
    while wanted:
        steps = [item for item in makers if set(wanted) & set(digests(item.evidence.details.get("corpus")))]
        steps = [item for item in steps if item not in behind]
        behind = [*steps, *behind]
        wanted = [digest for item in steps for digest in item.corpora]
    known = set(corpora(behind))
    of_corpora = [item for item in found if item.evidence.kind in _JUDGES and known & set(item.corpora)]
    return [*behind, *of_corpora]


def corpora(behind: Sequence[Found]) -> list[str]:
    """The digests of the corpora of a chain, the first one first."""
    return list(dict.fromkeys(digest for item in behind for digest in item.corpora))
