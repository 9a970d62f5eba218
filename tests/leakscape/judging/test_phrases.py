import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.judging.phrases import forms, gist, sentence, stands_in, words


def survives(field: str, value: str, text: str) -> bool:
    return any(stands_in(form, sentence(text)) for form in forms(field, value))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("O'Brien, Zoë; 912-45-6789", ["obrien", "zoe", "912", "45", "6789"]),
        ("Lisinopril 2.5mg\r\n- x", ["lisinopril", "2", "5", "mg", "x"]),
        ("O\u2019Brien a\u00a0b Stra\u00dfe", ["obrien", "a", "b", "strasse"]),
        ("\ufeff...", []),
        ("", []),
    ],
)
def test_words_are_plain(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("field", "value", "text", "expected"),
    [
        ("birth_date", "1984-03-05", "born 1984-03-05.", True),
        ("birth_date", "1984-03-05", "born March 5, 1984", True),
        ("birth_date", "1984-03-05", "born on 5 March 1984", True),
        ("birth_date", "1984-03-05", "born on the 5th Mar 1984", True),
        ("birth_date", "1984-03-05", "DOB 3/5/1984", True),
        ("birth_date", "1984-03-05", "DOB 03/05/1984", True),
        ("birth_date", "1984-03-05", "born March 15, 1984", False),
        ("birth_date", "1984-03-05", "born in 1984", False),
        ("birth_date", "unknown", "unknown", True),
        ("ssn", "912-45-6789", "SSN 912456789", True),
        ("ssn", "912-45-6789", "SSN 912 45 6789", True),
        ("ssn", "912-45-6789", "SSN 9912-45-6789", False),
        ("name", "Rosalind L. Jim\u00e9nez", "Jimenez, Rosalind", True),
        ("name", "Rosalind L. Jim\u00e9nez", "ROSALIND JIM\u00c9NEZ", True),
        ("name", "Rosalind L. Jim\u00e9nez", "Rosalind was seen", False),
        ("name", "Ann Lee", "Joann Lee", False),
        ("zip", "01970", "ZIP 01970-1234", True),
        ("zip", "01970", "ZIP 101970", False),
        ("problems", "Migraine (disorder)", "known for migraine", True),
        ("problems", "Migraine (disorder)", "migraines", False),
    ],
)
def test_a_value_survives_in_any_of_its_usual_forms(field: str, value: str, text: str, expected: bool) -> None:
    assert survives(field, value, text) is expected


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("problems", "Diabetes mellitus type 2 (disorder)", ("diabetes", "mellitus", "type", "2")),
        ("problems", "(disorder)", ("disorder",)),
        ("medications", "lisinopril 2.5 MG Oral Tablet", ("lisinopril",)),
        ("medications", "24 HR metFORMIN hydrochloride 750 MG Tablet", ("metformin", "hydrochloride")),
        ("medications", "0.3 ML enoxaparin sodium 100 MG/ML", ("enoxaparin", "sodium")),
        ("medications", "{24 (drospirenone 3 MG / x 0.02 MG) } Pack", ("drospirenone",)),
        ("medications", "hydrochlorothiazide 12.5 MG / lisinopril 10 MG", ("hydrochlorothiazide",)),
        ("medications", "Mabsartinib", ("mabsartinib",)),
        ("medications", "100", ("100",)),
        ("medications", "--", ()),
    ],
)
def test_the_gist_of_a_clinical_fact(field: str, value: str, expected: tuple[str, ...]) -> None:
    assert gist(field, value) == expected


def test_nothing_stands_everywhere() -> None:
    assert forms("name", "...") == ()
    assert not stands_in((), sentence("anything"))


@given(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)))
def test_a_date_written_out_is_found_and_no_other_is(one: dt.date, other: dt.date) -> None:
    text = f"born {one:%B} {one.day}, {one.year}"
    assert survives("birth_date", one.isoformat(), text)
    assert survives("birth_date", other.isoformat(), text) is (one == other)


@given(st.text(max_size=60), st.text(max_size=30))
def test_a_value_survives_in_a_text_that_holds_it(around: str, value: str) -> None:
    if words(value):
        assert survives("city", value, f"{around} \n {value} \n {around}")
