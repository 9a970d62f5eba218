"""Rules against hand-made texts, the public reports among them."""

import pytest

from leakscape.deidentification.detector import resolve
from leakscape.deidentification.rules import RuleDetector
from leakscape.records.record import Record, render

RECORD = Record(
    id="r",
    name="María O'Brien-Smith",
    sex="female",
    birth_date="1956-03-12",
    ssn="999-80-9624",
    street="12 Elm Street Apt 4",
    city="East Longmeadow",
    state="MA",
    zip="01970",
    problems=("Essential hypertension (disorder)",),
    medications=("Lisinopril 10 MG Oral Tablet", "Heparin 50000 UNT/ML", "Mabsartinib"),
)


def found(text: str) -> list[tuple[str, str]]:
    return [(text[each.start : each.end], each.label) for each in resolve(text, RuleDetector().detect([text])[0])]


def test_every_identifier_of_a_record_and_nothing_else():
    assert found(render(RECORD)[0]) == [
        ("María O'Brien-Smith", "PERSON"),
        ("1956-03-12", "DATE"),
        ("999-80-9624", "SSN"),
        ("12 Elm Street Apt 4", "STREET"),
        ("East Longmeadow", "CITY"),
        ("01970", "ZIP"),
    ]


def test_carriage_returns_are_no_part_of_a_value():
    assert found("Patient: Zoë Li\r\nSSN: 999-80-9624\r\n") == [("Zoë Li", "PERSON"), ("999-80-9624", "SSN")]


def test_a_value_that_stands_again_is_found_again():
    text = "Patient: Zoë Li\nActive problems:\n- Allergy noted by Zoë Li, not Zoë Lind"
    assert found(text) == [("Zoë Li", "PERSON"), ("Zoë Li", "PERSON")]


@pytest.mark.parametrize("area", ["900", "953", "999", "987", "123", "666"])
def test_ssn_of_any_area(area: str):
    """Report presidio#2275: an SSN in 900-999 must not count as invalid; #2074: 987-65-4320 neither."""
    assert found(f"seen, {area}-65-4320.") == [(f"{area}-65-4320", "SSN")]


@pytest.mark.parametrize(
    ("text", "value", "label"),
    [
        ("SSN 999809624", "999809624", "SSN"),
        ("id 999 80 9624", "999 80 9624", "SSN"),
        ("on 1956-03-12T10:00:00Z", "1956-03-12", "DATE"),
        ("born 3/12/1956.", "3/12/1956", "DATE"),
        ("born 03-12-56", "03-12-56", "DATE"),
        ("born March 3, 1956", "March 3, 1956", "DATE"),
        ("born 12 March 1956", "12 March 1956", "DATE"),
        ("Phone: 555-661-5197", "555-661-5197", "PHONE"),
        ("555-661-5197", "555-661-5197", "PHONE"),
        ("\n(555) 661-5197\n", "(555) 661-5197", "PHONE"),
        ("+1 555 661 5197", "+1 555 661 5197", "PHONE"),
        ("write to a.b+c@mail.example.org.", "a.b+c@mail.example.org", "EMAIL"),
        ("Salem, MA 01970", "01970", "ZIP"),
        ("01970-1234", "01970-1234", "ZIP"),
    ],
)
def test_shapes(text: str, value: str, label: str):
    assert found(text) == [(value, label)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2",
        "c",
        "0.5 ML 50000 UNT Prefilled Syringe",
        "24 HR 100-12.5 MG Extended Release",
        "1999-80-96244",
        "12-999-80-9624",
        "acetaminophen 325 MG / HYDROcodone 7.5 MG",
        "Contact the patient about case ABC12345. state: city: zip: unknown",
        "ratio 1/2/3/4",
    ],
)
def test_ordinary_text_is_left_alone(text: str):
    assert found(text) == []


def test_prose_is_not_ruined():
    """Report kubeedge/ianvs#834: case-insensitive patterns masked `Contact` and `at`."""
    text = "Contact John Smith at john.doe@example.com about case ABC12345."
    assert found(text) == [("john.doe@example.com", "EMAIL")]


def test_same_length_and_order_whatever_comes_in():
    """Report presidio#880: a batch with empty texts."""
    assert [len(each) for each in RuleDetector().detect(["", "2", "Patient: A B", "", "c"])] == [0, 0, 2, 0, 0]
    assert RuleDetector().detect([]) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("with number 999\u201180\u20119624 on file", "999\u201180\u20119624"),
        ("with number 999\u201380\u20139624 on file", "999\u201380\u20139624"),
        ("call 555\u202f661\u202f5197 today", "555\u202f661\u202f5197"),
        ("born 1956\u201103\u201112 in Salem", "1956\u201103\u201112"),
    ],
)
def test_typographic_hyphens_and_spaces_hide_nothing(text: str, value: str):
    """Language models write U+2011 for the hyphens of numbers."""
    assert [each for each, _ in found(text)] == [value]
