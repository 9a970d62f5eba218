"""Surrogates keep form, differ from the value and are a person's own."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.deidentification.surrogates import City, Surrogates, Tables, builtin_tables, scramble, shift
from leakscape.records import builtin
from leakscape.records.record import Record

TABLES = Tables(
    given={"female": ["Ann", "Zoë"], "male": ["Bob", "Tom"], "": ["Ann", "Zoë", "Bob", "Tom"]},
    surnames=["Stone", "Field", "O'Hara"],
    cities={
        "": [City("Salem", 1970, 1970), City("Lynn", 1901, 1905), City("Troy", 12180, 12183)],
        "MA": [City("Salem", 1970, 1970), City("Lynn", 1901, 1905)],
        "NY": [City("Troy", 12180, 12183)],
    },
)
RECORD = Record(
    id="r1",
    name="Rosa Long",
    sex="female",
    birth_date="1956-03-12",
    ssn="999-80-9624",
    street="12 Elm Street",
    city="Salem",
    state="MA",
    zip="01970",
    problems=(),
    medications=("X",),
)


def fill(record: Record = RECORD, *, person: str = "r1", seed: int = 0) -> Surrogates:
    return Surrogates(person, record, TABLES, seed=seed)


def test_names_by_sex_with_as_many_words():
    assert re.fullmatch("(Ann|Zoë) (Ann|Zoë) (Stone|Field|O'Hara)", fill()("PERSON", "Rosa Maria Long"))
    assert re.fullmatch("(Bob|Tom) (Stone|Field|O'Hara)", fill(replace(RECORD, sex="male"))("PERSON", "Al Long"))
    assert fill()("PERSON", "ROSA LONG").isupper()


def test_places_by_state_and_the_zip_fits_the_city():
    assert fill()("CITY", "Salem") == "Lynn"
    assert 1901 <= int(fill()("ZIP", "01970")) <= 1905
    assert re.fullmatch(r"[1-9]{2} (Stone|Field|O'Hara) Street", fill()("STREET", "12 Elm Street"))


def test_a_state_with_no_other_city_and_an_unknown_one():
    assert fill(replace(RECORD, state="NY", city="Troy"))("CITY", "Troy") in ("Salem", "Lynn")
    assert fill(replace(RECORD, state="Massachusetts"))("CITY", "Salem") in ("Troy", "Lynn")


def test_ssn_was_never_issued():
    assert re.fullmatch(r"9\d\d-[1-4]\d-\d{4}", fill()("SSN", "123-45-6789"))
    assert re.fullmatch(r"9\d\d[1-4]\d{5}", fill()("SSN", "123456789"))


@pytest.mark.parametrize(
    ("value", "days", "moved"),
    [
        ("1956-03-12", 20, "1956-04-01"),
        ("1956-02-28", 1, "1956-02-29"),
        ("3/12/1956", -12, "2/29/1956"),
        ("03/12/1956", 20, "04/01/1956"),
        ("12-31-1999", 1, "1-1-2000"),
        ("March 3, 1956", -3, "February 29, 1956"),
        ("3 March 1956", 1, "4 March 1956"),
        ("0001-01-01", -1, ""),
        ("spring", 1, ""),
    ],
)
def test_dates_move_and_keep_their_format(value: str, days: int, moved: str):
    assert shift(value, days) == moved


def test_intervals_between_a_persons_dates_stay():
    import datetime as dt

    first, second = (dt.date.fromisoformat(fill()("DATE", value)) for value in ("1956-03-12", "1990-07-01"))
    assert second - first == dt.date(1990, 7, 1) - dt.date(1956, 3, 12)
    assert first != dt.date(1956, 3, 12)


@given(value=st.text(max_size=25), label=st.sampled_from(["PERSON", "DATE", "SSN", "STREET", "CITY", "ZIP", "ACCOUNT"]))
def test_no_value_survives_and_the_same_one_always_becomes_the_same(value: str, label: str):
    surrogate = fill()(label, value)
    assert surrogate == fill()(label, value)
    if re.search("[A-Za-z0-9]", value):
        assert surrogate != value


def test_people_and_seeds_differ():
    values = {fill(person=f"p{n}", seed=s)("ACCOUNT", "AB-1234567") for n in range(5) for s in range(5)}
    assert len(values) == 25


def test_scrambling_keeps_the_form():
    import random

    assert re.fullmatch(r"\(\d{3}\) \d{3}-\d{4} [A-Z][a-z]\.", scramble("(555) 661-5197 Ab.", random.Random(0)))


def test_the_builtin_tables_serve():
    tables = builtin_tables()
    assert len(tables.given[""]) == len(builtin.given_names("female")) + len(builtin.given_names("male"))
    assert {each.name for each in tables.cities["MA"]} == {each.name for each in builtin.cities("MA")}
