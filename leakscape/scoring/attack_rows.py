"""Rows of membership attacks and of extraction: further payload of the measurements artifact.

    attacks = read_attacks(path)  # attacks.parquet: attack, id, kind, member, multiplicity, score
    extractions = read_extractions(path)  # extraction.parquet: id, multiplicity, number, tokens, exact, near, ...

Equal rows give equal bytes. Either file is missing where it was not asked for; its reader then gives no rows.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError, IntegrityError

if TYPE_CHECKING:
    import pyarrow as pa

ATTACKS_FILE = "attacks.parquet"
EXTRACTIONS_FILE = "extraction.parquet"
KINDS = ("canary", "record")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackRow:
    """One text under one attack.

    Args:
        attack: a name of `leakscape.scoring.attacks.ATTACKS`.
        id: the canary's or the record's.
        kind: `canary` or `record`.
        member: whether it stood in the corpus before any defence: a canary with copies, a training record.
        multiplicity: copies of a canary, 0 for one that a coin left out; None for records.
        score: higher for a likelier member.
    """

    attack: str
    id: str
    kind: str
    member: bool
    multiplicity: int | None
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRow:
    """One continuation of a canary's prefix; see `leakscape.scoring.extraction.Extraction`.

    Args:
        id: the canary's.
        multiplicity: copies of the canary, 0 for one that a coin left out.
        number: 0 for the greedy continuation, 1, 2, ... for samples.
        tokens: the most that were written.
        exact, near: how it compares with the secret; exact ones are near.
        similarity: from 0 to 1.
    """

    id: str
    multiplicity: int
    number: int
    tokens: int
    exact: bool
    near: bool
    similarity: float


def write_attacks(folder: artifacts.Folder, rows: Sequence[AttackRow]) -> None:
    """Write `attacks.parquet`.

    Raises:
        ArtifactError: a row holds what can't be.
        IntegrityError: an id stands twice under an attack.
    """
    _check_attacks(rows, ATTACKS_FILE)
    _write(folder, ATTACKS_FILE, rows, _attack_schema())


def write_extractions(folder: artifacts.Folder, rows: Sequence[ExtractionRow]) -> None:
    """Write `extraction.parquet`.

    Raises:
        ArtifactError: a row holds what can't be.
        IntegrityError: a continuation stands twice.
    """
    _check_extractions(rows, EXTRACTIONS_FILE)
    _write(folder, EXTRACTIONS_FILE, rows, _extraction_schema())


def read_attacks(path: Path | artifacts.Artifact) -> tuple[AttackRow, ...]:
    """Open and verify a measurements artifact and read its attacks; none where none were run.

    An artifact that was opened already is taken as it is.

    Raises:
        ArtifactError: the artifact or a column has another schema, or a row holds what can't be.
        IntegrityError: an id stands twice under an attack.
    """
    artifact = _opened(path)
    rows = _read(artifact, ATTACKS_FILE, AttackRow, _attack_schema())
    _check_attacks(rows, f"{artifact.path / ATTACKS_FILE}")
    return rows


def read_extractions(path: Path | artifacts.Artifact) -> tuple[ExtractionRow, ...]:
    """Open and verify a measurements artifact and read its extractions; none where none were tried.

    An artifact that was opened already is taken as it is.

    Raises:
        ArtifactError: the artifact or a column has another schema, or a row holds what can't be.
        IntegrityError: a continuation stands twice.
    """
    artifact = _opened(path)
    rows = _read(artifact, EXTRACTIONS_FILE, ExtractionRow, _extraction_schema())
    _check_extractions(rows, f"{artifact.path / EXTRACTIONS_FILE}")
    return rows


def _write(folder: artifacts.Folder, name: str, rows: Sequence[Any], schema: "pa.Schema") -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=schema)
    pq.write_table(table, folder.path / name, compression="zstd", store_schema=True)


def _opened(path: Path | artifacts.Artifact) -> artifacts.Artifact:
    return path if isinstance(path, artifacts.Artifact) else artifacts.load(path, schema=schemas.MEASUREMENTS)


def _read(artifact: artifacts.Artifact, name: str, kind: type[T], schema: "pa.Schema") -> tuple[T, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if name not in artifact.manifest.files:
        return ()
    file = artifact.file(name)
    try:
        table = pq.read_table(file)
    except (pa.ArrowException, OSError):
        raise ArtifactError(f"{file} is no Parquet file; measure again.") from None
    if not table.schema.equals(schema):
        raise ArtifactError(f"{file} has other columns than this version reads; measure again.")
    return tuple(kind(**row) for row in table.to_pylist())


def _attack_schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("attack", pa.string(), nullable=False),
            pa.field("id", pa.string(), nullable=False),
            pa.field("kind", pa.string(), nullable=False),
            pa.field("member", pa.bool_(), nullable=False),
            pa.field("multiplicity", pa.int32()),
            pa.field("score", pa.float64(), nullable=False),
        ]
    )


def _extraction_schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("multiplicity", pa.int32(), nullable=False),
            pa.field("number", pa.int32(), nullable=False),
            pa.field("tokens", pa.int32(), nullable=False),
            pa.field("exact", pa.bool_(), nullable=False),
            pa.field("near", pa.bool_(), nullable=False),
            pa.field("similarity", pa.float64(), nullable=False),
        ]
    )


def _check_attacks(rows: Sequence[AttackRow], where: str) -> None:
    for number, row in enumerate(rows, start=1):
        faults = {
            "kind is neither canary nor record": row.kind not in KINDS,
            "a canary has a multiplicity, a record none": (row.kind == "canary") != (row.multiplicity is not None),
            "multiplicity must be at least 0": (row.multiplicity or 0) < 0,
            "a canary is a member if it has copies": row.kind == "canary" and row.member != bool(row.multiplicity),
            "score must be a number": not math.isfinite(row.score),
        }
        _refuse(faults, f"{where}, row {number}")
    _check_once(((row.attack, row.id) for row in rows), where)


def _check_extractions(rows: Sequence[ExtractionRow], where: str) -> None:
    for number, row in enumerate(rows, start=1):
        faults = {
            "tokens must be at least 1": row.tokens < 1,
            "multiplicity and number must be at least 0": min(row.multiplicity, row.number) < 0,
            "similarity must lie between 0 and 1": not 0 <= row.similarity <= 1,
            "an exact continuation is near": row.exact and not row.near,
        }
        _refuse(faults, f"{where}, row {number}")
    _check_once(((row.id, row.number) for row in rows), where)


def _refuse(faults: dict[str, bool], where: str) -> None:
    for words, holds in faults.items():
        if holds:
            raise ArtifactError(f"{where}: {words}; measure again.")


def _check_once(keys: Iterable[Hashable], where: str) -> None:
    for key, times in Counter(keys).items():
        if times > 1:
            raise IntegrityError(f"{where}: {key} stands {times} times.")
