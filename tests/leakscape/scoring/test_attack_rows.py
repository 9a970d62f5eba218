"""Files of attacks and extractions: there and back, and what is refused."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError, IntegrityError
from leakscape.scoring.attack_rows import (
    ATTACKS_FILE,
    AttackRow,
    ExtractionRow,
    read_attacks,
    read_extractions,
    write_attacks,
    write_extractions,
)

CANARY = AttackRow(attack="loss", id="canary-1", kind="canary", member=True, multiplicity=4, score=-1.5)
RECORD = AttackRow(attack="loss", id="r-1", kind="record", member=False, multiplicity=None, score=-2.0)
HIT = ExtractionRow(id="canary-1", multiplicity=4, number=0, tokens=3, exact=True, near=True, similarity=1.0)


def store(path: Path, attacks: Sequence[AttackRow] = (), extractions: Sequence[ExtractionRow] = ()) -> Path:
    with artifacts.create(path, schema=schemas.MEASUREMENTS, provenance=artifacts.Provenance()) as folder:
        if attacks:
            write_attacks(folder, attacks)
        if extractions:
            write_extractions(folder, extractions)
    return path


def test_there_and_back(tmp_path: Path):
    missed = replace(HIT, number=1, exact=False, near=False, similarity=0.2)
    path = store(tmp_path / "a", [CANARY, RECORD], [HIT, missed])
    assert read_attacks(path) == (CANARY, RECORD)
    assert read_extractions(path) == (HIT, missed)
    again = store(tmp_path / "b", [CANARY, RECORD], [HIT, missed])
    assert artifacts.read_manifest(path).digest == artifacts.read_manifest(again).digest


def test_what_was_not_asked_for_has_no_rows(tmp_path: Path):
    path = store(tmp_path / "a")
    assert read_attacks(path) == ()
    assert read_extractions(path) == ()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (replace(CANARY, kind="person"), "kind is neither"),
        (replace(CANARY, multiplicity=None), "a canary has a multiplicity"),
        (replace(RECORD, multiplicity=1), "a canary has a multiplicity"),
        (replace(CANARY, multiplicity=-1), "at least 0"),
        (replace(CANARY, multiplicity=0), "a canary is a member if it has copies"),
        (replace(CANARY, score=float("nan")), "score must be a number"),
        (replace(CANARY, score=float("-inf")), "score must be a number"),
    ],
)
def test_attacks_that_can_not_be_are_refused(tmp_path: Path, row: AttackRow, words: str):
    with pytest.raises(ArtifactError, match=f"attacks.parquet, row 2: .*{words}"):
        store(tmp_path / "a", [RECORD, row])
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (replace(HIT, tokens=0), "tokens"),
        (replace(HIT, number=-1), "at least 0"),
        (replace(HIT, similarity=1.1), "similarity"),
        (replace(HIT, similarity=float("nan")), "similarity"),
        (replace(HIT, near=False), "exact continuation is near"),
    ],
)
def test_extractions_that_can_not_be_are_refused(tmp_path: Path, row: ExtractionRow, words: str):
    with pytest.raises(ArtifactError, match=words):
        store(tmp_path / "a", [], [row])


def test_doubled_ids_are_refused(tmp_path: Path):
    with pytest.raises(IntegrityError, match=r"r-1.*stands 2 times"):
        store(tmp_path / "a", [RECORD, RECORD])
    with pytest.raises(IntegrityError, match=r"canary-1.*stands 2 times"):
        store(tmp_path / "b", [], [HIT, HIT])


def test_other_columns_and_broken_files_are_refused(tmp_path: Path):
    with artifacts.create(tmp_path / "a", schema=schemas.MEASUREMENTS, provenance=artifacts.Provenance()) as folder:
        pq.write_table(pa.table({"attack": ["loss"]}), folder.path / ATTACKS_FILE)
    with pytest.raises(ArtifactError, match="other columns"):
        read_attacks(tmp_path / "a")
    with artifacts.create(tmp_path / "b", schema=schemas.MEASUREMENTS, provenance=artifacts.Provenance()) as folder:
        (folder.path / ATTACKS_FILE).write_bytes(b"PAR1")
    with pytest.raises(ArtifactError, match="no Parquet file"):
        read_attacks(tmp_path / "b")
