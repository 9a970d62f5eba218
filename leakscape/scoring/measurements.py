"""The measurements artifact: raw scores of one condition, a row for each thing that was scored.

    with artifacts.create(path, schema=schemas.MEASUREMENTS, provenance=made) as folder:
        write(folder, Measurements(summary, rows))

    measured = read(path)
    verbatim = measured.columns("verbatim")
    perplexity(verbatim.token_log_likelihood)

`scores.parquet` holds the rows, `summary.json` what they were measured on and what could not be scored. Equal rows
give equal bytes. Readers refuse another schema, a figure that is no number, and an id that stands twice.
"""

import math
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError, IntegrityError
from leakscape.scoring.rows import Row, Summary, fault
from leakscape.typed_json import field_of

if TYPE_CHECKING:
    import pyarrow as pa

SCORES = "scores.parquet"
SUMMARY = "summary.json"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Columns:
    """The rows of one probe as arrays of equal length, in the order of the file.

    Args:
        ids, groups: see `Row`.
        multiplicity: int64; -1 where a row has none.
        tokens: int64.
        log_likelihood: float64, nats.
        straddles: bool.
        rank, extrapolated: float64; NaN where a row has none.
        candidates: int64; 0 where a row has none.
    """

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    multiplicity: NDArray[np.int64]
    tokens: NDArray[np.int64]
    log_likelihood: NDArray[np.float64]
    straddles: NDArray[np.bool_]
    rank: NDArray[np.float64]
    candidates: NDArray[np.int64]
    extrapolated: NDArray[np.float64]

    @property
    def token_log_likelihood(self) -> NDArray[np.float64]:
        """The mean log-likelihood of a token, in nats, for each row: what perplexities are made of."""
        mean: NDArray[np.float64] = self.log_likelihood / self.tokens
        return mean


@dataclass(frozen=True, slots=True)
class Measurements:
    """All raw scores of one condition."""

    summary: Summary
    rows: tuple[Row, ...]

    def of(self, probe: str) -> tuple[Row, ...]:
        """The rows of one probe; none where it was not measured."""
        return tuple(row for row in self.rows if row.probe == probe)

    def columns(self, probe: str) -> Columns:
        """The rows of one probe as arrays; empty ones where it was not measured."""
        rows = self.of(probe)
        return Columns(
            ids=tuple(row.id for row in rows),
            groups=tuple(row.group for row in rows),
            multiplicity=np.array([_or(row.multiplicity, -1) for row in rows], dtype=np.int64),
            tokens=np.array([row.tokens for row in rows], dtype=np.int64),
            log_likelihood=np.array([row.log_likelihood for row in rows], dtype=np.float64),
            straddles=np.array([row.straddles for row in rows], dtype=np.bool_),
            rank=np.array([_or(row.rank, math.nan) for row in rows], dtype=np.float64),
            candidates=np.array([_or(row.candidates, 0) for row in rows], dtype=np.int64),
            extrapolated=np.array([_or(row.extrapolated, math.nan) for row in rows], dtype=np.float64),
        )


def write(folder: artifacts.Folder, measurements: Measurements) -> None:
    """Write `scores.parquet` and `summary.json` into an artifact.

    Raises:
        ArtifactError: a row holds a figure that can't be.
        IntegrityError: an id stands twice in a probe, or rows and summary disagree.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [asdict(row) for row in _checked(measurements, SCORES).rows]
    table = pa.Table.from_pylist(rows, schema=_arrow_schema())
    pq.write_table(table, folder.path / SCORES, compression="zstd", store_schema=True)
    folder.write_json(SUMMARY, measurements.summary)


def read(path: Path | artifacts.Artifact) -> Measurements:
    """Open and verify a measurements artifact; one that was opened already is taken as it is.

    Raises:
        ArtifactError: the artifact or a column has another schema, or a row holds a figure that can't be.
        IntegrityError: an id stands twice in a probe, or rows and summary disagree.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    artifact = path if isinstance(path, artifacts.Artifact) else artifacts.load(path, schema=schemas.MEASUREMENTS)
    file = artifact.file(SCORES)
    try:
        table = pq.read_table(file)
    except (pa.ArrowException, OSError):
        raise ArtifactError(f"{file} is no Parquet file; measure again.") from None
    if not table.schema.equals(_arrow_schema()):
        raise ArtifactError(f"{file} has other columns than this version reads; measure again.")
    rows = tuple(Row(**row) for row in table.to_pylist())
    return _checked(Measurements(_summary(artifact), rows), str(file))


def _summary(artifact: artifacts.Artifact) -> Summary:
    try:
        return TypeAdapter(Summary).validate_json(artifact.file(SUMMARY).read_bytes(), strict=True)
    except ValidationError as error:
        raise ArtifactError(f"{artifact.path / SUMMARY}: {field_of(error)} does not fit; measure again.") from None


def _arrow_schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("probe", pa.string(), nullable=False),
            pa.field("id", pa.string(), nullable=False),
            pa.field("group", pa.string(), nullable=False),
            pa.field("multiplicity", pa.int32()),
            pa.field("tokens", pa.int32(), nullable=False),
            pa.field("log_likelihood", pa.float64(), nullable=False),
            pa.field("straddles", pa.bool_(), nullable=False),
            pa.field("rank", pa.float64()),
            pa.field("candidates", pa.int32()),
            pa.field("extrapolated", pa.float64()),
        ]
    )


def _checked(measurements: Measurements, where: str) -> Measurements:
    for number, row in enumerate(measurements.rows, start=1):
        if words := fault(row):
            raise ArtifactError(f"{where}, row {number}: {words}; measure again.")
    _check_ids(measurements, where)
    return measurements


def _check_ids(measurements: Measurements, where: str) -> None:
    ids = Counter((row.probe, row.id) for row in measurements.rows)
    for probe, summary in measurements.summary.probes.items():
        ids.update((probe, left_out.id) for left_out in summary.unscorable)
    for (probe, row_id), times in ids.items():
        if times > 1:
            raise IntegrityError(f"{where}: {row_id} stands {times} times in the probe {probe}.")
    scored = Counter(row.probe for row in measurements.rows)
    stated = Counter({probe: summary.scored for probe, summary in measurements.summary.probes.items()})
    if scored != stated:
        raise IntegrityError(f"{where}: the summary counts other rows than there are.")


def _or(value: T | None, otherwise: T) -> T:
    return otherwise if value is None else value
