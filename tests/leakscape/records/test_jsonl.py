import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import InputError, RecordError
from leakscape.records.jsonl import KEYS, SEXES, read
from leakscape.records.record import Record, is_clean, render
from leakscape.records.split import groups
from leakscape.records.synthea import Choices
from leakscape.typed_json import dump_json, plain

LONE_SURROGATE = '"\\ud800"'


def row(number: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    base = {
        "id": f"mrn-{number}",
        "name": f"Zoë Quill {chr(ord('a') + number)}",
        "sex": "female",
        "birth_date": f"19{50 + number}-03-12",
        "ssn": f"912-45-{number:04d}",
        "street": "12 Elm Street, Apt 4",
        "city": "Salem",
        "state": "MA",
        "zip": "01970",
        "problems": ["Gout"],
        "medications": ["insulin, human 70 UNT/ML"],
    }
    return base | values


def line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def write(path: Path, *lines: str, end: str = "\n", bom: bool = False) -> Path:
    path.write_bytes((("\ufeff" if bom else "") + "".join(text + end for text in lines)).encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("bom", [False, True])
def test_every_form_of_a_file_gives_the_same_records(tmp_path: Path, end: str, bom: bool):
    file = write(tmp_path / "records.jsonl", line(row(2)), line(row(1)), end=end, bom=bom)
    reading = read(file, Choices())
    assert [person.record for person in reading.people] == [
        Record(
            id=f"patient-{number:06d}",
            name=f"Zoë Quill {'abc'[number]}",
            sex="female",
            birth_date=f"195{number}-03-12",
            ssn=f"912-45-000{number}",
            street="12 Elm Street, Apt 4",
            city="Salem",
            state="MA",
            zip="01970",
            problems=("Gout",),
            medications=("insulin, human 70 UNT/ML",),
        )
        for number in (1, 2)
    ]
    assert reading.counts["patients"] == reading.counts["kept"] == 2


@given(order=st.permutations(range(6)), cut=st.integers(1, 5))
def test_order_of_lines_and_their_files_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], cut: int
):
    one, several = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("several")
    write(one / "a.jsonl", *(line(row(number)) for number in range(6)))
    write(several / "a.jsonl", *(line(row(number)) for number in order[:cut]))
    write(several / "b.jsonl", *(line(row(number)) for number in order[cut:]), end="\r\n")
    write(several / "notes.txt", "no record")
    write(several / "._a.jsonl", "a desktop's own")
    assert read(one, Choices()) == read(several, Choices())


values = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(is_clean)
known = st.builds(
    Record,
    id=values,
    name=st.just("") | values,
    sex=st.sampled_from(SEXES),
    birth_date=st.just("") | st.dates().map(str),
    **{name: st.just("") | values for name in ("ssn", "street", "city", "state", "zip")},
    problems=st.lists(values, unique=True, max_size=3).map(tuple),
    medications=st.lists(values, unique=True, min_size=1, max_size=3).map(tuple),
)


@given(record=known)
def test_every_record_that_has_a_text_is_read_back(tmp_path_factory: pytest.TempPathFactory, record: Record):
    file = write(tmp_path_factory.mktemp("read") / "a", dump_json(plain(record)))
    (person,) = read(file, Choices()).people
    assert person.record == replace(record, id="patient-000001")
    assert render(person.record)[0] == render(record)[0]


def test_what_is_not_known_is_empty(tmp_path: Path):
    empty = dict.fromkeys(("name", "sex", "birth_date", "street", "city", "state", "zip"), "")
    reading = read(write(tmp_path / "a", line(row(1, **empty, problems=[])), line(row(2))), Choices())
    first = reading.people[0]
    assert (first.record.name, first.record.problems) == ("", ())
    assert len(first.keys) == 1  # without a birth date nobody is taken for anybody's twin
    assert reading.counts["zip_unknown"] == reading.counts["sex_unknown"] == 1


def test_records_without_a_medication_are_counted_or_refused(tmp_path: Path):
    file = write(tmp_path / "a", line(row(1, medications=[])), line(row(2)))
    reading = read(file, Choices())
    assert [person.record.id for person in reading.people] == ["patient-000002"]
    assert reading.counts["without_medication_dropped"] == 1
    with pytest.raises(RecordError, match="1 records have no medication"):
        read(file, Choices(without_medication="refuse"))


def test_repeated_entries_stand_once(tmp_path: Path):
    reading = read(write(tmp_path / "a", line(row(1, medications=["B", "A", "B"]))), Choices())
    assert reading.people[0].record.medications == ("B", "A")
    assert reading.counts["repeated_entries_merged"] == 1


def test_twins_stay_together(tmp_path: Path):
    twins = [row(number, birth_date="1950-01-01") for number in (1, 2)]
    people = read(write(tmp_path / "a", *map(line, twins), line(row(3))), Choices()).people
    assert sorted(len(group) for group in groups(people)) == [1, 2]


def without(name: str) -> str:
    return line({key: value for key, value in row(2).items() if key != name})


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{", "not JSON; .* may be cut off"),
        (line(row(2))[:-9], "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no object"),
        ('"Secretname"', "no object"),
        *((without(name), f"{name} missing") for name in KEYS),
        (line(row(2) | {"medication": []}), "key 12 is none of a record's; is it meant to be medications"),
        (line(row(2) | {"Secretname": ""}), "key 12 is none of a record's; a record has id, name"),
        (line(row(2))[:-1] + ', "zip": "01971"}', "zip stands there twice"),
        (line(row(2, zip=1970)), "zip is no text; put it in quotation marks"),
        (line(row(2, name=None)), "name is no text"),
        (line(row(2, zip=float("nan"))), "zip is no text"),
        (line(row(2, id="")), "id is empty"),
        (line(row(2, street="12 Elm\nStreet")), "street is empty, holds a line break"),
        (line(row(2, city=" Salem")), "city is empty, holds a line break"),
        (line(row(2)).replace('"Salem"', LONE_SURROGATE), "city is empty, holds a line break or half"),
        (line(row(2, sex="F")), "sex is neither female, male, other nor empty"),
        (line(row(2, birth_date="12/03/1950")), "birth_date is no day in the form YYYY-MM-DD"),
        (line(row(2, problems="Secretname")), "problems is no list"),
        (line(row(2, problems={})), "problems is no list"),
        (line(row(2, medications=["A", ""])), "medications, entry 2 is empty"),
        (line(row(2, medications=["A", 3])), "medications, entry 2 is no text"),
        (line(row(2, id="mrn-1")), "id stands in .*a.jsonl, line 1 too; give each record an id of its own"),
        (line(row(1, id="x", zip="")), r"the person \(name, birth_date and ssn\) stands in .*a.jsonl, line 1 too"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line_and_without_its_value(tmp_path: Path, bad: str, message: str):
    with pytest.raises(RecordError, match=f"a.jsonl, line 3: {message}") as caught:
        read(write(tmp_path / "a.jsonl", line(row(1)), "", bad, line(row(5))), Choices())
    for value in ("Secretname", "Quill", "Salem", "912-45", "mrn-", "01971", "12/03"):
        assert value not in str(caught.value)


def test_bytes_that_are_not_utf_8(tmp_path: Path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(line(row(1)).encode() + b"\n" + line(row(2)).encode("latin-1") + b"\n")
    with pytest.raises(RecordError, match="line 2: not UTF-8"):
        read(file, Choices())


def test_places_without_records(tmp_path: Path):
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "none.jsonl", Choices())
    with pytest.raises(InputError, match=r"holds no \*\.jsonl"):
        read(tmp_path, Choices())
    with pytest.raises(RecordError, match="holds no record"):
        read(write(tmp_path / "empty.jsonl", "", bom=True), Choices())
