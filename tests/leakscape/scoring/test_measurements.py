"""Measurements survive a round trip unchanged, and what can't be is refused."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError, IntegrityError
from leakscape.scoring.measurements import SCORES, Measurements, read, write
from leakscape.scoring.rows import Row, Summary, Unscorable, probe_summaries


def row(row_id: str = "canary-001", probe: str = "verbatim", **changes: object) -> Row:
    values = {"multiplicity": 4, "tokens": 3, "log_likelihood": -1.5, "straddles": False, **changes}
    return Row(probe=probe, id=row_id, group=row_id.partition("/")[0], **values)  # type: ignore[arg-type]


ROWS = (
    row(),
    row("canary-002", straddles=True, multiplicity=0),
    row("p-1", "held_out", multiplicity=None, tokens=200, log_likelihood=-180.25),
    row("canary-001", "exposure", rank=1.5, candidates=6301, extrapolated=14.25),
    row("canary-002", "exposure", rank=3151.0, candidates=6301),
)


def measurements(rows: tuple[Row, ...] = ROWS) -> Measurements:
    summary = Summary(
        target="tiny",
        condition="direct",
        model="leakscape/tiny",
        revision="",
        tokenizer_hash="0f",
        precision="float32",
        device="cpu",
        chat=False,
        adapters=("ab",),
        batch_size=8,
        held_out_limit=0,
        probes=probe_summaries(rows, {"held_out": [Unscorable("p-2", "the text is empty")]}),
    )
    return Measurements(summary, rows)


def save(path: Path, measured: Measurements) -> Path:
    with artifacts.create(path, schema=schemas.MEASUREMENTS, provenance=artifacts.Provenance()) as folder:
        write(folder, measured)
    return path


def test_round_trip(tmp_path: Path):
    assert read(save(tmp_path / "m", measurements())) == measurements()


def test_columns_hold_the_rows_of_one_probe(tmp_path: Path):
    measured = read(save(tmp_path / "m", measurements()))
    verbatim = measured.columns("verbatim")
    assert verbatim.ids == ("canary-001", "canary-002")
    assert verbatim.multiplicity.tolist() == [4, 0]
    assert verbatim.straddles.tolist() == [False, True]
    assert verbatim.token_log_likelihood.tolist() == [-0.5, -0.5]
    assert measured.columns("held_out").multiplicity.tolist() == [-1]
    exposure = measured.columns("exposure")
    assert exposure.rank.tolist() == [1.5, 3151.0]
    np.testing.assert_array_equal(exposure.extrapolated, [14.25, math.nan])
    assert measured.columns("semantic").ids == ()
    assert measured.summary.probes["held_out"].unscorable == (Unscorable("p-2", "the text is empty"),)
    assert measured.summary.probes["verbatim"].straddling == 1


def test_equal_rows_give_equal_bytes(tmp_path: Path):
    saved = [artifacts.read_manifest(save(tmp_path / str(number), measurements())) for number in range(2)]
    assert saved[0].digest == saved[1].digest


@pytest.mark.parametrize(
    "changes",
    [
        {"log_likelihood": math.nan},
        {"log_likelihood": -math.inf},
        {"log_likelihood": 0.5},
        {"tokens": 0},
        {"multiplicity": -1},
        {"probe": "verbal"},
        {"rank": 1.0, "candidates": 3},
        {"rank": 1.0},
        {"extrapolated": 3.0},
        {"probe": "exposure"},
        {"probe": "exposure", "rank": 4.0, "candidates": 3},
        {"probe": "exposure", "rank": math.nan, "candidates": 3},
        {"probe": "exposure", "rank": 1.0, "candidates": 3, "extrapolated": math.inf},
    ],
)
def test_a_figure_that_can_not_be_is_neither_written_nor_read(tmp_path: Path, changes: dict[str, object]):
    bad = dataclasses.replace(row(), **changes)  # type: ignore[arg-type]
    with pytest.raises(ArtifactError, match=r"row 1: .*; measure again"):
        save(tmp_path / "m", measurements((bad,)))
    assert not (tmp_path / "m").exists()
    columns = {field.name: [getattr(bad, field.name)] for field in dataclasses.fields(bad)}
    with pytest.raises(ArtifactError):
        read(forge(tmp_path, columns))


@pytest.mark.parametrize("change", ["drop", "add", "type", "null"])
def test_other_columns_are_refused(tmp_path: Path, change: str):
    columns = {field.name: [getattr(row(), field.name)] for field in dataclasses.fields(row())}
    columns |= {"add": {"note": ["?"]}, "type": {"tokens": ["3"]}, "null": {"tokens": [None]}}.get(change, {})
    if change == "drop":
        del columns["straddles"]
    with pytest.raises(ArtifactError, match=r"scores\.parquet"):
        read(forge(tmp_path, columns))


def forge(tmp_path: Path, columns: dict[str, list[object]]) -> Path:
    """An artifact whose manifest is sound and whose rows need not be."""
    good = measurements((row(),))
    schema = pq.read_schema(save(tmp_path / "good", good) / SCORES)
    with artifacts.create(tmp_path / "bad", schema=schemas.MEASUREMENTS, provenance=artifacts.Provenance()) as folder:
        write(folder, good)
        if set(columns) == set(schema.names) and columns["tokens"] not in ([None], ["3"]):
            table = pa.table(columns, schema=schema)
        else:
            table = pa.table(columns)
        pq.write_table(table, folder.path / SCORES)
    return tmp_path / "bad"


def test_what_is_no_parquet_is_refused_in_words(tmp_path: Path):
    with artifacts.create(tmp_path / "m", schema=schemas.MEASUREMENTS, provenance=artifacts.Provenance()) as folder:
        write(folder, measurements())
        (folder.path / SCORES).write_bytes((folder.path / SCORES).read_bytes()[:40])
    with pytest.raises(ArtifactError, match="is no Parquet file"):
        read(tmp_path / "m")


def test_another_artifact_is_refused(tmp_path: Path):
    with artifacts.create(tmp_path / "c", schema=schemas.CORPUS, provenance=artifacts.Provenance()):
        pass
    with pytest.raises(ArtifactError, match="leakscape/corpus/1"):
        read(tmp_path / "c")


def test_a_summary_that_does_not_fit_is_refused(tmp_path: Path):
    with artifacts.create(tmp_path / "m", schema=schemas.MEASUREMENTS, provenance=artifacts.Provenance()) as folder:
        write(folder, measurements())
        file = folder.path / "summary.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"batch_size": "8"}))
    with pytest.raises(ArtifactError, match=r"summary\.json: batch_size does not fit"):
        read(tmp_path / "m")


def test_an_id_never_stands_twice_in_a_probe(tmp_path: Path):
    with pytest.raises(IntegrityError, match="canary-001 stands 2 times"):
        save(tmp_path / "m", measurements((row(), row())))
    with pytest.raises(IntegrityError, match="p-2 stands 2 times"):
        save(tmp_path / "m", measurements((row("p-2", "held_out"),)))


def test_a_lost_row_is_noticed(tmp_path: Path):
    measured = dataclasses.replace(measurements(), rows=ROWS[:-1])
    with pytest.raises(IntegrityError, match="counts other rows"):
        save(tmp_path / "m", measured)
