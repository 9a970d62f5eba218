"""Read records of one's own: JSON Lines, one person a line, with the keys of a record and no others.

Nothing is repaired: what does not fit is refused with file, line and field, and never with its value, so that no record
is read otherwise than whoever wrote it meant. An unknown key is named by its place alone, for it may be a value.
"""

import difflib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from leakscape.errors import InputError, RecordError
from leakscape.records.record import LABELS, LISTS, Record, is_clean
from leakscape.records.synthea import Choices, Person, Reading, identity
from leakscape.records.values import is_date

SUFFIX = ".jsonl"
KEYS = tuple(field.name for field in fields(Record))
SEXES = ("female", "male", "other", "")
_BOM = b"\xef\xbb\xbf"


def read(path: Path, choices: Choices, *, prefix: str = "patient") -> Reading:
    """Read a population.

    Ids are numbers in the order of birth date, SSN and name, as those of the other sources are: the order of lines
    does not matter, and the ids of the file, which may be somebody's, go no further.

    Args:
        path: a file, or a folder whose `*.jsonl` are read in the order of their names.
        choices: `without_medication` alone is asked: the others are about Synthea.
        prefix: of the records' ids.

    Raises:
        InputError: nothing is at `path`, or the folder holds no such file.
        RecordError: a line is no record, or an id or a person comes twice; file, line and field are named.
    """
    counts: Counter[str] = Counter(dict.fromkeys(("without_medication_dropped", "repeated_entries_merged"), 0))
    ordered = sorted(_records(path), key=lambda record: (*_content(record), record.id))
    kept = []
    for number, given in enumerate(ordered, start=1):
        if given.medications:
            record = replace(_merged(given, counts), id=f"{prefix}-{number:06d}")
            kept.append(Person(record, _keys(record)))
        else:
            counts["without_medication_dropped"] += 1
    counts.update(patients=len(ordered), kept=len(kept))
    counts["zip_unknown"] = sum(not person.record.zip for person in kept)
    counts["sex_unknown"] = sum(not person.record.sex for person in kept)
    if choices.without_medication == "refuse" and counts["without_medication_dropped"]:
        raise RecordError(
            f"{path}: {counts['without_medication_dropped']} records have no medication, and a record ends with its "
            "medications; take them out, or leave without_medication at drop."
        )
    return Reading(people=tuple(kept), counts=dict(counts))


def _records(path: Path) -> Iterator[Record]:
    """Every record, with the id that its file gives it; ids and people once over all files."""
    ids: dict[str, str] = {}
    people: dict[tuple[str, str, str], str] = {}
    for file in _files(path):
        for number, line in _lines(file):
            where = f"{file}, line {number}"
            record = _record(_object(line, where), where)
            if earlier := ids.setdefault(record.id, where):
                _refuse_second(where, earlier, "id stands", "give each record an id of its own, or remove one")
            if earlier := people.setdefault(identity(record), where):
                what = "the person (name, birth_date and ssn) stands"
                _refuse_second(where, earlier, what, "write what belongs to one person on one line, or remove one")
            yield record


def _refuse_second(where: str, earlier: str, what: str, advice: str) -> None:
    if earlier != where:
        raise RecordError(f"{where}: {what} in {earlier} too; {advice}.")


def _files(path: Path) -> Sequence[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path} does not exist; give a file of records, or a folder of *{SUFFIX}.")
    # Hidden files are a desktop's own.
    found = sorted(file for file in path.glob(f"*{SUFFIX}") if not file.name.startswith("."))
    if not found:
        raise InputError(f"{path} holds no *{SUFFIX}; each line of such a file is one record.")
    return found


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, from 1; a BOM and CRLF are taken off."""
    empty = True
    with file.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            line = (raw.removeprefix(_BOM) if number == 1 else raw).strip()
            if line:
                empty = False
                yield number, line
    if empty:
        raise RecordError(f"{file} holds no record; export it again.")


def _object(line: bytes, where: str) -> dict[str, Any]:
    """A line's keys and values, each of a record's keys once."""
    try:
        pairs = json.loads(line.decode("utf-8"), object_pairs_hook=_Pairs)
    except UnicodeDecodeError:
        raise RecordError(f"{where}: not UTF-8; save the file as UTF-8.") from None
    except (ValueError, RecursionError):
        raise RecordError(
            f"{where}: not JSON; each line holds one whole record, and this one may be cut off."
        ) from None
    if not isinstance(pairs, _Pairs):
        raise RecordError(f"{where}: no object; each line holds one record: {{{', '.join(KEYS)}}}.")
    names = [name for name, _ in pairs]
    for place, name in enumerate(names, start=1):
        if name not in KEYS:
            near = difflib.get_close_matches(name, KEYS, n=1)
            raise RecordError(
                f"{where}: key {place} is none of a record's; "
                + (f"is it meant to be {near[0]}?" if near else f"a record has {', '.join(KEYS)}.")
            )
    if doubled := [name for name in KEYS if names.count(name) > 1]:
        raise RecordError(f"{where}: {doubled[0]} stands there twice; remove one of the two.")
    if missing := [name for name in KEYS if name not in names]:
        raise RecordError(
            f"{where}: {', '.join(missing)} missing; write an empty text, or an empty list, for what is not known."
        )
    return dict(pairs)


class _Pairs(list[tuple[str, Any]]):
    """An object's keys and values as they stand, doubled keys included."""


def _record(values: dict[str, Any], where: str) -> Record:
    for name in ("id", *LABELS):
        _check_text(values[name], f"{where}: {name}", may_be_empty=name != "id")
    for name in LISTS:
        if isinstance(values[name], _Pairs) or not isinstance(values[name], list):
            raise RecordError(f"{where}: {name} is no list; write [] for none.")
        for place, entry in enumerate(values[name], start=1):
            _check_text(entry, f"{where}: {name}, entry {place}", may_be_empty=False)
    if values["sex"] not in SEXES:
        raise RecordError(f"{where}: sex is neither female, male, other nor empty.")
    if values["birth_date"] and not is_date(values["birth_date"]):
        raise RecordError(f"{where}: birth_date is no day in the form YYYY-MM-DD; an unknown one is an empty text.")
    texts = {name: values[name] for name in ("id", *LABELS)}
    return Record(**texts, problems=tuple(values["problems"]), medications=tuple(values["medications"]))


def _check_text(value: object, what: str, *, may_be_empty: bool) -> None:
    if not isinstance(value, str):
        raise RecordError(f"{what} is no text; put it in quotation marks.")
    if not value and may_be_empty:
        return
    if not is_clean(value):
        raise RecordError(
            f"{what} is empty, holds a line break or half a character, or begins or ends with white space; clean it."
        )


def _content(record: Record) -> tuple[str, ...]:
    return (record.birth_date, record.ssn, record.name)


def _merged(record: Record, counts: Counter[str]) -> Record:
    """Each problem and each medication once, where it stands first."""
    lists = {name: _once(getattr(record, name)) for name in LISTS}
    counts["repeated_entries_merged"] += sum(len(getattr(record, name)) - len(lists[name]) for name in LISTS)
    return replace(record, problems=lists["problems"], medications=lists["medications"])


def _once(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entries))


def _keys(record: Record) -> tuple[tuple[str, ...], ...]:
    """As for Synthea: one key for the person and one for twins, if the birth date is known."""
    person = ("person", *identity(record))
    return (person, ("twins", record.birth_date, record.sex, record.city)) if record.birth_date else (person,)
