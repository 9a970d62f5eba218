from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import InputError, RecordError
from leakscape.records.record import parse, render
from leakscape.records.synthea import Choices, Entry, Patient, assemble
from leakscape.records.values import plain

MEDICATION = Entry("2020-01-01", "7", "Aspirin 81 MG Oral Tablet")


def made(choices: Choices | None = None, **values: object):
    patient = Patient(**({"source_id": "a", "birth_date": "1950-01-02", "medications": [MEDICATION]} | values))
    counts: Counter[str] = Counter()
    people = assemble([patient], choices or Choices(), counts)
    return (people[0].record if people else None), counts


@given(st.text())
def test_plain_values_can_stand_in_a_record(value: str):
    cleaned = plain(value)
    assert plain(cleaned) == cleaned
    assert "," not in cleaned
    if cleaned:
        record, _ = made(problems=[Entry("", "1", cleaned)])
        assert parse(render(record)[0]).problems == (cleaned,)


def test_name_by_choice():
    parts = {"prefix": "Mrs.", "first": "Rosa12", "middle": "Inés3", "last": "O'Reilly797", "suffix": "PhD"}
    assert made(**parts)[0].name == "Rosa Inés O'Reilly"
    assert made(Choices(titles="keep"), **parts)[0].name == "Mrs. Rosa Inés O'Reilly PhD"
    assert made(Choices(name_numbers="keep"), **parts)[0].name == "Rosa12 Inés3 O'Reilly797"


def test_name_in_decomposed_letters_is_composed():
    assert made(first="Vero\u0301nica1")[0].name == "Verónica"


@pytest.mark.parametrize(("given_zip", "kept"), [("02155", "02155"), ("00000", ""), ("", ""), (" 00501 ", "00501")])
def test_zip_is_text_and_zeros_are_unknown(given_zip: str, kept: str):
    record, counts = made(zip=given_zip)
    assert record.zip == kept
    assert counts["zip_unknown"] == (not kept)


@pytest.mark.parametrize(
    ("state", "kept"),
    [("Massachusetts", "MA"), ("MA", "MA"), ("New Hampshire", "NH"), ("District of Columbia", "DC"), ("Wien", "Wien")],
)
def test_state_is_the_abbreviation(state: str, kept: str):
    assert made(state=state)[0].state == kept


@pytest.mark.parametrize(("sex", "kept"), [("M", "male"), ("F", "female"), ("female", "female"), ("?", ""), ("", "")])
def test_sex_is_a_word(sex: str, kept: str):
    assert made(sex=sex)[0].sex == kept


def test_problems_by_choice():
    entries = [
        Entry("2001-01-01", "160903007", "Full-time employment (finding)"),
        Entry("2003-01-01", "714628002", "Prediabetes (finding)"),
        Entry("2002-01-01", "90560007", "Gout"),
    ]
    assert made(problems=entries)[0].problems == ("Gout", "Prediabetes (finding)")
    assert made(Choices(problems="disorders"), problems=entries)[0].problems == ("Gout",)
    assert len(made(Choices(problems="all"), problems=entries)[0].problems) == 3
    counts = made(Choices(problems="disorders"), problems=entries)[1]
    assert (counts["social_problems_dropped"], counts["other_findings_dropped"]) == (1, 1)


def test_the_dead_and_those_without_medication_are_counted():
    record, counts = made(dead=True)
    assert record is None
    assert counts == {"dead_dropped": 1, "without_medication_dropped": 0, "patients": 1, "kept": 0}
    assert made(Choices(dead="keep"), dead=True)[0] is not None
    record, counts = made(medications=[])
    assert record is None
    assert counts["without_medication_dropped"] == 1
    with pytest.raises(RecordError, match=r"patient-000001 .* no current medication"):
        made(Choices(without_medication="refuse"), medications=[])


def test_a_repeated_medication_stands_once():
    record, counts = made(medications=[MEDICATION, Entry("2021-05-05", "7", MEDICATION.text)])
    assert record.medications == (MEDICATION.text,)
    assert counts["repeated_entries_merged"] == 1


def test_a_choice_that_is_none_is_refused():
    with pytest.raises(InputError, match="dead must be one of drop, keep"):
        Choices(dead="maybe")


def test_ids_do_not_depend_on_order_source_ids_or_choices():
    def patients(ids: str, *, first_dead: bool) -> list[Patient]:
        return [
            Patient(source_id=ids[0], birth_date="1990-01-01", last="Zed", medications=[MEDICATION]),
            Patient(source_id=ids[1], birth_date="1940-01-01", last="Abe", dead=first_dead, medications=[MEDICATION]),
        ]

    straight = assemble(patients("ab", first_dead=False), Choices(), Counter())
    turned = assemble(reversed(patients("yx", first_dead=False)), Choices(), Counter())
    assert straight == turned
    assert [person.record.id for person in straight] == ["patient-000001", "patient-000002"]
    assert [person.record.id for person in assemble(patients("ab", first_dead=True), Choices(), Counter())] == [
        "patient-000002"
    ]
