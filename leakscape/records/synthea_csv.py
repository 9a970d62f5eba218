"""Read Synthea's CSV folder: patients.csv, conditions.csv and medications.csv.

Columns are found by name, so that files of 25, 27 and 28 columns read alike. The exporter quotes nothing and ends each
line, on Windows with CRLF: a quotation mark is part of its value, and a last line without its end is cut off.
"""

import csv
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from leakscape.errors import InputError, RecordError
from leakscape.records.synthea import Choices, Entry, Patient, Reading, assemble
from leakscape.records.values import is_date, plain

FILES = ("patients.csv", "conditions.csv", "medications.csv")

_PATIENT_COLUMNS = (
    *("ID", "BIRTHDATE", "DEATHDATE", "SSN", "PREFIX", "FIRST", "LAST", "SUFFIX"),
    *("RACE", "GENDER", "ADDRESS", "CITY", "STATE", "ZIP"),
)
_NEWER_COLUMNS = ("MIDDLE", "INCOME")
_ENTRY_COLUMNS = ("START", "STOP", "PATIENT", "CODE", "DESCRIPTION")
_DAY = len("YYYY-MM-DD")

Row = dict[str, str]


def read(folder: Path, choices: Choices, *, prefix: str = "patient") -> Reading:
    """Read a population. Of conditions and medications only the active rows stay in memory.

    Args:
        folder: holds the three files, by itself or in a subfolder `csv` as Synthea's output folder does.
        choices: whom and what to keep.
        prefix: of the records' ids.

    Raises:
        InputError: the folder or a file is missing.
        RecordError: a file can't be read as Synthea's; file, line and column are named.
    """
    folder = _locate(folder)
    counts: Counter[str] = Counter()
    patients = _patients(folder / "patients.csv")
    problems, latest_problem = _active(folder / "conditions.csv", patients, counts)
    medications, latest_medication = _active(folder / "medications.csv", patients, counts)
    complete = (
        replace(patient, problems=problems.get(source_id, []), medications=medications.get(source_id, []))
        for source_id, patient in patients.items()
    )
    people = assemble(complete, choices, counts, prefix=prefix)
    return Reading(people=people, counts=dict(counts), latest_start=max(latest_problem, latest_medication))


def _locate(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; give the folder that holds {', '.join(FILES)}.")
    if not (folder / FILES[0]).exists() and (folder / "csv" / FILES[0]).is_file():
        return folder / "csv"
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{folder} lacks {', '.join(missing)}; run Synthea with --exporter.csv.export=true and name the file in "
            "exporter.csv.included_files."
        )
    return folder


def _patients(path: Path) -> dict[str, Patient]:
    patients: dict[str, Patient] = {}
    for line, row in _rows(path, _PATIENT_COLUMNS, _NEWER_COLUMNS):
        source_id, birth_date = row["ID"].strip(), row["BIRTHDATE"].strip()
        if not source_id:
            raise RecordError(f"{path}, line {line}: Id is empty; every patient needs one.")
        if source_id in patients:
            raise RecordError(f"{path}, line {line}: Id stands on an earlier line too; remove one of the two.")
        if not is_date(birth_date):
            raise RecordError(f"{path}, line {line}: BIRTHDATE is no day in the form YYYY-MM-DD.")
        patients[source_id] = Patient(
            source_id=source_id,
            birth_date=birth_date,
            dead=bool(row["DEATHDATE"].strip()),
            ssn=row["SSN"],
            prefix=row["PREFIX"],
            first=row["FIRST"],
            middle=row["MIDDLE"],
            last=row["LAST"],
            suffix=row["SUFFIX"],
            sex=row["GENDER"],
            race=row["RACE"],
            income=row["INCOME"],
            street=row["ADDRESS"],
            city=row["CITY"],
            state=row["STATE"],
            zip=row["ZIP"],
        )
    return patients


def _active(path: Path, patients: dict[str, Patient], counts: Counter[str]) -> tuple[dict[str, list[Entry]], str]:
    """The rows without a STOP, by patient, and the latest START of all rows.

    A row of someone who is not in patients.csv is counted, not refused: a team may well cut patients.csv alone.
    """
    name = path.stem
    unknown, early = f"{name}_rows_of_unknown_patients", f"{name}_rows_stopping_before_start"
    counts.update(dict.fromkeys((unknown, early), 0))
    active: dict[str, list[Entry]] = {}
    latest = ""
    for line, row in _rows(path, _ENTRY_COLUMNS):
        counts[f"{name}_rows"] += 1
        source_id, start, stop = row["PATIENT"].strip(), row["START"].strip(), row["STOP"].strip()
        if source_id not in patients:
            counts[unknown] += 1
            continue
        latest = max(latest, start[:_DAY])
        if not _is_active(stop):
            counts[early] += stop < start
            continue
        text = sys.intern(plain(row["DESCRIPTION"]))
        if not text:
            raise RecordError(f"{path}, line {line}: DESCRIPTION is empty, though the row is active.")
        active.setdefault(source_id, []).append(Entry(sys.intern(start[:_DAY]), sys.intern(row["CODE"]), text))
        counts[f"{name}_rows_active"] += 1
    return active, latest


def _is_active(stop: str) -> bool:
    return not stop


def _rows(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> Iterator[tuple[int, Row]]:
    """Each row's line number and the columns asked for; an optional column that is absent reads as empty.

    Raises:
        RecordError: no header, a column missing or doubled, a row of another length, bytes that are not UTF-8.
    """
    _check_last_line(path)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, quoting=csv.QUOTE_NONE)
        try:
            header = [name.strip().upper() for name in next(reader)]
            places = _places(path, header, needed, optional)
            absent = dict.fromkeys(set(optional) - set(places), "")
            for row in reader:
                if row:
                    _check_width(path, reader.line_num, row, header)
                    yield reader.line_num, {name: row[place] for name, place in places.items()} | absent
        except UnicodeDecodeError:
            raise RecordError(f"{path}, line {_undecodable(path)}: not UTF-8; export or save it as UTF-8.") from None
        except csv.Error:
            raise RecordError(f"{path}, after line {reader.line_num}: this line can't be read as CSV.") from None


def _undecodable(path: Path) -> int:
    """The first line that is not UTF-8: the reader decodes in blocks, well ahead of the row at hand."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.decode("utf-8", errors="ignore").encode() != line:
                return number
    return 1


def _check_last_line(path: Path) -> None:
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        if not size:
            raise RecordError(f"{path} is empty; not even the header is there. Export it again.")
        stream.seek(size - 1)
        if stream.read(1) != b"\n":
            raise RecordError(
                f"{path}: the last line has no line end, so the file may be cut off; export it again, or add the line "
                "end if the file is whole."
            )


def _places(path: Path, header: list[str], needed: Sequence[str], optional: Sequence[str]) -> dict[str, int]:
    missing = [name for name in needed if name not in header]
    if missing:
        hint = " Its header is in quotation marks, which Synthea never writes." if '"' in "".join(header) else ""
        raise RecordError(
            f"{path}, line 1: no column {', '.join(missing)}; give the file as Synthea's CSV exporter wrote it.{hint}"
        )
    doubled = sorted({name for name in (*needed, *optional) if header.count(name) > 1})
    if doubled:
        raise RecordError(f"{path}, line 1: column {', '.join(doubled)} stands there twice; remove one of the two.")
    return {name: header.index(name) for name in (*needed, *optional) if name in header}


def _check_width(path: Path, line: int, row: list[str], header: list[str]) -> None:
    if len(row) < len(header):
        raise RecordError(
            f"{path}, line {line}: the row ends at column {header[len(row) - 1]}, {len(header) - len(row)} before the "
            "last; the file may be cut off."
        )
    if len(row) > len(header):
        raise RecordError(
            f"{path}, line {line}: {len(row)} values for {len(header)} columns; a value may hold a comma, which "
            "Synthea's exporter replaces by a space."
        )
