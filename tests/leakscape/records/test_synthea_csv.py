import csv
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
import synthea_files as files
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import InputError, RecordError
from leakscape.records.record import Record
from leakscape.records.split import groups
from leakscape.records.synthea import Choices
from leakscape.records.synthea_csv import read
from leakscape.records.values import plain

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "synthea"
ASPIRIN = "Aspirin 81 MG Oral Tablet"


def folder(tmp_path: Path, **values: object) -> Path:
    return files.write_folder(
        tmp_path,
        [files.patient(1)],
        [files.condition(1, "Gout"), files.condition(1, "Old", stop="2021-01-01")],
        [files.medication(1, ASPIRIN), files.medication(1, "Past", stop="2019-01-01T00:00:00Z")],
        **values,
    )


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (files.COLUMNS_28, "Rosa Inés O'Reilly"),
        (files.COLUMNS_27, "Rosa O'Reilly"),
        (files.COLUMNS_25, "Rosa O'Reilly"),
        (sorted(files.COLUMNS_28), "Rosa Inés O'Reilly"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [False, True])
def test_every_form_of_the_files_gives_the_same_record(
    tmp_path: Path, columns: list[str], name: str, end: str, bom: bool
):
    reading = read(folder(tmp_path, columns=columns, end=end, bom=bom), Choices())
    assert [person.record for person in reading.people] == [
        Record(
            id="patient-000001",
            name=name,
            sex="female",
            birth_date="1951-03-02",
            ssn="999-00-0001",
            street="1 Elm Harbor Apt 1",
            city="Salem",
            state="MA",
            zip="01970",
            problems=("Gout",),
            medications=(ASPIRIN,),
        )
    ]
    assert reading.latest_start == "2020-01-01"


def test_rows_are_counted(tmp_path: Path):
    counts = read(folder(tmp_path), Choices()).counts
    assert counts["conditions_rows"] == counts["medications_rows"] == 2
    assert counts["conditions_rows_active"] == counts["medications_rows_active"] == 1
    assert counts["medications_rows_stopping_before_start"] == 1


def test_a_quotation_mark_swallows_no_line(tmp_path: Path):
    files.write_folder(
        tmp_path,
        [files.patient(1), files.patient(2)],
        [],
        [files.medication(1, '"Aspirin'), files.medication(2, 'Aspirin 3" patch')],
    )
    people = read(tmp_path, Choices()).people
    assert [person.record.medications for person in people] == [('"Aspirin',), ('Aspirin 3" patch',)]


@given(st.lists(st.text(st.characters(exclude_characters=",\r\n", exclude_categories=["Cs"])), max_size=5))
def test_whatever_the_exporter_may_write_comes_back(texts: list[str]):
    wanted = {plain(text) for text in texts if plain(text)}
    with tempfile.TemporaryDirectory() as folder:
        rows = [files.medication(1, text) for text in texts if plain(text)]
        people = read(files.write_folder(Path(folder), [files.patient(1)], [], rows), Choices()).people
    assert {text for person in people for text in person.record.medications} == wanted


def test_rows_of_unknown_patients_are_counted(tmp_path: Path):
    files.write_folder(tmp_path, [files.patient(1)], [], [files.medication(1, ASPIRIN), files.medication(2, ASPIRIN)])
    reading = read(tmp_path, Choices())
    assert len(reading.people) == 1
    assert reading.counts["medications_rows_of_unknown_patients"] == 1


def test_order_of_rows_does_not_matter(tmp_path: Path):
    numbers = [3, 1, 2]
    medications = [files.medication(n, text) for n in numbers for text in ("B", "A")]
    one = files.write_folder(tmp_path / "1", map(files.patient, numbers), [], medications)
    two = files.write_folder(tmp_path / "2", map(files.patient, sorted(numbers)), [], reversed(medications))
    assert read(one, Choices()) == read(two, Choices())


def test_output_folder_of_synthea_is_understood(tmp_path: Path):
    folder(tmp_path / "csv")
    assert len(read(tmp_path, Choices()).people) == 1


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("patients", lambda text: text[:-40] + "\n", "line 2: the row ends at column"),
        ("patients", lambda text: text[:-1], "last line has no line end"),
        ("patients", lambda text: text.replace("Salem", "Salem, MA"), "line 2: 29 values for 28 columns"),
        ("patients", lambda text: text.replace("BIRTHDATE", "BORN"), "no column BIRTHDATE"),
        ("patients", lambda text: text.replace("MAIDEN", "LAST"), "column LAST stands there twice"),
        ("patients", lambda text: text.replace("Id,", '"Id",'), "in quotation marks"),
        ("patients", lambda text: text + text.split("\n")[1] + "\n", "line 3: Id stands on an earlier line"),
        ("patients", lambda text: text.replace("id-0001", ""), "line 2: Id is empty"),
        ("patients", lambda text: text.replace("1951-03-02", "02.03.1951"), "line 2: BIRTHDATE"),
        ("patients", lambda _: "", "is empty"),
        ("medications", lambda text: text.replace(ASPIRIN, ""), "line 2: DESCRIPTION is empty"),
        ("medications", lambda text: text.replace("STOP", "END"), "no column STOP"),
        ("medications", lambda text: text + "x" * 200_000 + "\n", "can't be read as CSV"),
    ],
)
def test_a_damaged_file_is_refused_without_its_values(
    tmp_path: Path, name: str, change: Callable[[str], str], message: str
):
    path = folder(tmp_path) / f"{name}.csv"
    path.write_bytes(change(path.read_text(encoding="utf-8")).encode())
    with pytest.raises(RecordError, match=message) as caught:
        read(tmp_path, Choices())
    assert f"{name}.csv" in str(caught.value)
    for value in ("999-00", "Rosa", "Reilly", "1951", "id-0001", "Elm"):
        assert value not in str(caught.value)


def test_other_encodings_are_refused(tmp_path: Path):
    path = folder(tmp_path) / "patients.csv"
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    with pytest.raises(RecordError, match=r"patients\.csv, line 2: not UTF-8"):
        read(tmp_path, Choices())


def test_a_missing_file_is_named(tmp_path: Path):
    (folder(tmp_path) / "medications.csv").unlink()
    with pytest.raises(InputError, match=r"lacks medications\.csv"):
        read(tmp_path, Choices())
    with pytest.raises(InputError, match="is no folder"):
        read(tmp_path / "nowhere", Choices())


def test_a_header_alone_is_an_empty_population(tmp_path: Path):
    reading = read(files.write_folder(tmp_path, []), Choices())
    assert reading.people == ()
    assert reading.latest_start == ""


def real(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip("../shared/data is absent")
    return DATA / name


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("name", ["csv-28-columns", "csv-25-columns"])
@pytest.mark.parametrize("dead", ["drop", "keep"])
def test_real_output_against_a_plain_loop(name: str, dead: str):
    source = real(name)
    active = defaultdict(set)
    for row in table(source / "medications.csv"):
        if not row["STOP"]:
            active[row["PATIENT"]].add(" ".join(row["DESCRIPTION"].split()))
    patients = table(source / "patients.csv")
    kept = {row["SSN"]: row for row in patients if row["Id"] in active and (dead == "keep" or not row["DEATHDATE"])}

    reading = read(source, Choices(dead=dead, problems="all"))
    assert {person.record.ssn for person in reading.people} == set(kept)
    assert reading.counts["patients"] == len(patients)
    for person in reading.people:
        row = kept[person.record.ssn]
        assert set(person.record.medications) == active[row["Id"]]
        assert person.record.birth_date == row["BIRTHDATE"]
        assert person.record.street == row["ADDRESS"]
        assert person.record.zip == ("" if row["ZIP"] == "00000" else row["ZIP"])
        assert not any(letter.isdigit() for letter in person.record.name)


def test_reference_figures_of_the_current_format():
    """Figures of facts/synthea.md for csv-28-columns: 116 patients, 24 in groups of twins, 5 rows stop too early."""
    source = real("csv-28-columns")
    reading = read(source, Choices(dead="keep", problems="all"))
    assert reading.counts["patients"] == 116
    early = reading.counts["conditions_rows_stopping_before_start"]
    early += reading.counts["medications_rows_stopping_before_start"]
    assert early == 5
    assert "repeated_entries_merged" not in {name for name, count in reading.counts.items() if count}


def test_twins_of_the_current_format():
    source = real("csv-28-columns")
    twins = Counter(
        (row["BIRTHDATE"], row["GENDER"], row["RACE"], row["CITY"], row["INCOME"])
        for row in table(source / "patients.csv")
    )
    assert sum(count for count in twins.values() if count > 1) == 24
    people = read(source, Choices(dead="keep")).people
    births = Counter(person.record.birth_date for person in people)
    for group in groups(people):
        if len(group) > 1:
            assert len({(person.record.birth_date, person.record.city) for person in group}) == 1
            assert births[group[0].record.birth_date] >= len(group)
