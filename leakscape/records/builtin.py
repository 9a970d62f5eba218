"""The built-in population: coherent people from a seed, without any program or file from outside.

    for record in generate(300, seed=7, stream="train", reference_date=date(2026, 1, 1)): ...

A person depends on seed, stream and place in the stream alone, so a shorter draw is the beginning of a longer one.
People of different streams differ in their SSN by construction, whatever the seeds; within a stream no SSN comes twice.
"""

import datetime as dt
import random
from collections.abc import Iterator
from functools import cache

from leakscape.errors import InputError
from leakscape.records import clinical, ssn, vocabulary
from leakscape.records.draws import Weighted, below, derived
from leakscape.records.record import Record
from leakscape.records.ssn import CAPACITY, STREAMS
from leakscape.records.vocabulary import cities, drug_names, given_names, surnames

__all__ = ["CAPACITY", "STREAMS", "cities", "drug_names", "generate", "given_names", "surnames"]

_BLOCK = 1000  # people who share a generator
_YEAR = 365
_EARLIEST_YEAR = 150  # so that the oldest person has a birth year
_INITIALS = "AABCCDEEFGHIJJKLLMMMNOPRRSSTVW"
_UNITS = ("Apt", "Apt", "Apt", "Unit", "Suite")

_OWN_ORIGIN = 0.72  # a given name of the surname's origin; others have a general one
_MIDDLE_INITIAL = 0.15
_HYPHENATED = 0.03
_APARTMENT = 0.22
_HIGHEST_HOUSE = 9_800
_HIGHEST_APARTMENT = 120


def generate(count: int, *, seed: int, stream: str, reference_date: dt.date) -> Iterator[Record]:
    """Draw people.

    Args:
        count: how many, up to `CAPACITY`.
        seed: any whole number.
        stream: one of `STREAMS`; it begins the ids (`train-000001`).
        reference_date: the day on which ages are counted; the same people are younger or older on another day.

    Returns:
        Records, one at a time: memory does not grow with `count`.

    Raises:
        InputError: the stream is unknown, or `count` or `reference_date` is out of its range.
    """
    if not 0 <= count <= CAPACITY:
        raise InputError(f"A stream holds 0 to {CAPACITY:,} people, but {count:,} were asked for.")
    if reference_date.year < _EARLIEST_YEAR:
        raise InputError(f"The reference date must lie in the year {_EARLIEST_YEAR} or later.")
    number = ssn.numbers(stream, seed)
    blocks = ((first, derived("people", seed, stream, first // _BLOCK)) for first in range(0, count, _BLOCK))
    return (
        _person(rng, f"{stream}-{index + 1:06}", number(index), reference_date)
        for first, rng in blocks
        for index in range(first, min(first + _BLOCK, count))
    )


def _person(rng: random.Random, record_id: str, number: str, today: dt.date) -> Record:
    sex, first, last = _ages().pick(rng)
    age = first + below(rng, last - first + 1)
    city = _cities().pick(rng)
    name = _name(rng, sex)
    born = _birth_date(rng, age, today)
    street = _street(rng)
    zip_code = city.zip_low + below(rng, city.zip_high - city.zip_low + 1)
    problems, medications = clinical.draw(rng, sex, age)
    return Record(
        id=record_id,
        name=name,
        sex=sex,
        birth_date=born.isoformat(),
        ssn=number,
        street=street,
        city=city.name,
        state=city.state,
        zip=f"{zip_code:05}",
        problems=problems,
        medications=medications,
    )


def _birth_date(rng: random.Random, age: int, today: dt.date) -> dt.date:
    """A day on which someone was born who is `age` years old today."""
    leap_day = (today.month, today.day) == (2, 29)
    anniversary = dt.date(today.year - age, today.month, today.day - leap_day)
    return anniversary - dt.timedelta(days=below(rng, _YEAR))


def _name(rng: random.Random, sex: str) -> str:
    origin = _origins().pick(rng)
    given = _given(sex, origin if rng.random() < _OWN_ORIGIN else "general").pick(rng)
    if rng.random() < _MIDDLE_INITIAL:
        given = f"{given} {_INITIALS[below(rng, len(_INITIALS))]}."
    surname = _surnames(origin).pick(rng)
    if rng.random() < _HYPHENATED and "-" not in surname:
        other = _surnames("general").pick(rng)
        surname = surname if other == surname else f"{surname}-{other}"
    return f"{given} {surname}"


def _street(rng: random.Random) -> str:
    # The square of a uniform number makes low house numbers the common ones.
    near = rng.random()
    house = 1 + int(near * near * _HIGHEST_HOUSE)
    street = f"{house} {_streets().pick(rng)} {_street_types().pick(rng)}"
    if rng.random() < _APARTMENT:
        street += f" {_UNITS[below(rng, len(_UNITS))]} {1 + below(rng, _HIGHEST_APARTMENT)}"
    return street


@cache
def _ages() -> Weighted[tuple[str, int, int]]:
    bands = vocabulary.ages()
    female = [(("female", band.first, band.last), band.female) for band in bands]
    return Weighted(female + [(("male", band.first, band.last), band.male) for band in bands])


@cache
def _cities() -> Weighted[vocabulary.City]:
    return Weighted((city, city.weight) for city in cities())


@cache
def _origins() -> Weighted[str]:
    return _by_weight(vocabulary.origins())


@cache
def _given(sex: str, origin: str) -> Weighted[str]:
    return _by_weight(tuple(name for name in given_names(sex) if name.origin == origin))


@cache
def _surnames(origin: str) -> Weighted[str]:
    return _by_weight(tuple(name for name in surnames() if name.origin == origin))


@cache
def _streets() -> Weighted[str]:
    return _by_weight(vocabulary.streets())


@cache
def _street_types() -> Weighted[str]:
    return _by_weight(vocabulary.street_types())


def _by_weight(names: tuple[vocabulary.Named, ...]) -> Weighted[str]:
    return Weighted((name.name, name.weight) for name in names)
