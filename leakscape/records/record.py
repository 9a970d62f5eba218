"""A record's fields, its one rendering to text, and the inverse.

    Patient: María O'Brien
    Sex: female
    Date of birth: 1956-03-12
    SSN: 912-45-6789
    Street: 12 Elm Street
    City: Salem
    State: MA
    ZIP: 01970
    Active problems:
    - Essential hypertension (disorder)
    Current medications:
    - Lisinopril 10 MG Oral Tablet

A record ends with its last medication: no line break follows. Offsets are code points.
"""

import re
from dataclasses import dataclass, replace

from leakscape.errors import RecordError

# Whatever str.splitlines breaks at, NUL, and halves of surrogate pairs, which UTF-8 can't hold: a value with one of
# them would not come back from its text or its file.
_FORBIDDEN = re.compile("[\x00\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\ud800-\udfff]")

LABELS = {
    "name": "Patient",
    "sex": "Sex",
    "birth_date": "Date of birth",
    "ssn": "SSN",
    "street": "Street",
    "city": "City",
    "state": "State",
    "zip": "ZIP",
}
LISTS = {"problems": "Active problems", "medications": "Current medications"}
IDENTIFIERS = ("name", "birth_date", "ssn", "street", "city", "zip")
"""Fields that point at a person; `state` and `sex` alone do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One person's fields.

    Args:
        id: names the record in logs and errors; it never holds anything personal.
        name, sex, birth_date (YYYY-MM-DD), ssn, street, city, state, zip: demographics and identifiers. An empty
            one is left out of the text.
        problems: active problems, in their order.
        medications: current medications, in their order; the last one ends the record.
    """

    id: str
    name: str
    sex: str
    birth_date: str
    ssn: str
    street: str
    city: str
    state: str
    zip: str
    problems: tuple[str, ...]
    medications: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Where a field's value stands in a text: `text[start:end]`, in code points.

    `field` is a name of `LABELS`, or `problems` or `medications` (one span an entry).
    """

    start: int
    end: int
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRecord:
    """One training instance of a corpus.

    Args:
        id: unique in the corpus: the record's id, for a canary's copies `canary-007/3`, for the second of several
            rewrites `.../r2`.
        person: groups the instances of one person (a record's own id, a canary's id).
        text: what a model is trained on.
        spans: where the fields stand in `text`; empty once a defence has changed the text.
        fields: the record as it was before any defence, for audits of the corpus. Never shown to a model.
    """

    id: str
    person: str
    text: str
    spans: tuple[Span, ...]
    fields: Record


def render(record: Record) -> tuple[str, tuple[Span, ...]]:
    """Write a record as text.

    Returns:
        The text and a span for each value, in the order of the text.

    Raises:
        RecordError: a value holds a line break or half a character, or begins or ends with white space, or there is
            no medication.
    """
    lines: list[str] = []
    spans: list[Span] = []
    length = 0

    def add(label: str, value: str, field: str) -> None:
        nonlocal length
        start = length + len(label)
        lines.append(label + value)
        spans.append(Span(start, start + len(value), field))
        length = start + len(value) + 1

    for field, label in LABELS.items():
        if value := getattr(record, field):
            add(f"{label}: ", _checked(record, field, value), field)
    for field, label in LISTS.items():
        values = getattr(record, field)
        if not values and field == "medications":
            raise RecordError(f"record {record.id} has no medication, but a record ends with its medications.")
        lines.append(f"{label}:")
        length += len(label) + 2
        for value in values:
            add("- ", _checked(record, field, value), field)
    return "\n".join(lines), tuple(spans)


def parse(text: str, *, record_id: str = "") -> Record:
    """Read a text that `render` wrote: `render` of the result is `text` again, to the last character.

    Raises:
        RecordError: the text has another form; the message gives the line's number or the field.
    """
    values: dict[str, str] = {}
    lists: dict[str, list[str]] = {field: [] for field in LISTS}
    by_label = {label: field for field, label in LABELS.items()}
    heads = {f"{label}:": field for field, label in LISTS.items()}
    current = ""
    for number, line in enumerate(text.split("\n"), start=1):
        label, separator, value = line.partition(": ")
        if line in heads:
            current = heads[line]
        elif current and line.startswith("- "):
            lists[current].append(line[2:])
        elif not current and separator and by_label.get(label, "") not in ("", *values):
            values[by_label[label]] = value
        else:
            raise RecordError(f"record {record_id}: line {number} is not a line of a record.")
    if not lists["medications"]:
        raise RecordError(f"record {record_id}: the text has no medication; it may be cut off.")
    record = Record(
        id=record_id,
        **{field: values.get(field, "") for field in LABELS},
        problems=tuple(lists["problems"]),
        medications=tuple(lists["medications"]),
    )
    _check_form(text, record)
    return record


def instance(record: Record, *, instance_id: str = "", person: str = "") -> CorpusRecord:
    """The training instance of an untouched record."""
    text, spans = render(record)
    return CorpusRecord(id=instance_id or record.id, person=person or record.id, text=text, spans=spans, fields=record)


def with_text(original: CorpusRecord, text: str) -> CorpusRecord:
    """The same instance after a defence changed its text."""
    return replace(original, text=text, spans=())


def is_clean(value: str) -> bool:
    """Whether a value may stand in a record: not empty, on one line, whole characters, no white space at its ends."""
    return bool(value) and value == value.strip() and not _FORBIDDEN.search(value)


def _check_form(text: str, record: Record) -> None:
    rendered = render(record)[0]
    if rendered != text:
        pairs = zip(rendered.split("\n"), text.split("\n"), strict=False)
        number = next((number for number, (right, found) in enumerate(pairs, start=1) if right != found), 1)
        raise RecordError(f"record {record.id}: line {number} is not in its place, or its value is missing.")


def _checked(record: Record, field: str, value: str) -> str:
    if not is_clean(value):
        raise RecordError(
            f"record {record.id}: {field} is empty, holds a line break or half a character, or begins or ends with "
            "white space; clean it before it becomes a record."
        )
    return value
