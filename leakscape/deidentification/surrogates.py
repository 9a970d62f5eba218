"""Invented values of the same form.

Dates move by a number of days that is a person's own, so that intervals stay; names are drawn by sex, cities and ZIPs
by state; of everything else each digit and letter becomes another one. The same value of the same person becomes the
same surrogate in every text. Nothing is stored: a surrogate follows from seed, person, label and value.

A surrogate says nothing true, but it looks as if it did: it hides what was missed (Carrell et al. 2013, "Hiding in
plain sight") and no reader can tell which values are real.
"""

import datetime as dt
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leakscape.records.record import Record

_DAYS = 365
_TRIES = 20
_FORMATS = ("%Y-%m-%d", "%m/%d/%Y", "%m-%d-%Y", "%B %d, %Y", "%d %B %Y")
_PADDED = re.compile(r"(?<!\d)0(?=\d[-/ ,])")
_ABOUT_PLACES = frozenset({"STREET", "ADDRESS", "LOCATION", "CITY", "ZIP"})
_WORD = re.compile(r"[^\W\d_][\w'’-]*")  # noqa: RUF001 - the apostrophe of names in running text


@dataclass(frozen=True, slots=True)
class City:
    """A city and the ZIPs it may have, both ends included."""

    name: str
    zip_low: int
    zip_high: int


@dataclass(frozen=True, slots=True)
class Tables:
    """What surrogates are drawn from.

    Args:
        given: given names by sex; `""` holds all.
        surnames: surnames.
        cities: cities by state; `""` holds all.
    """

    given: Mapping[str, Sequence[str]]
    surnames: Sequence[str]
    cities: Mapping[str, Sequence[City]]


class Surrogates:
    """Fills the masked spans of one person's texts.

    Args:
        person: whose texts they are; steers everything.
        record: gives sex and state; its values are never used.
        tables: what is drawn from.
        seed: another one, other surrogates.
    """

    def __init__(self, person: str, record: Record, tables: Tables, *, seed: int) -> None:
        self._stream = f"leakscape/surrogates/1/{seed}/{person}"
        self._given = tables.given.get(record.sex, tables.given[""])
        self._surnames = tables.surnames
        rng = random.Random(f"{self._stream}/place")
        self._home = rng.choice(_elsewhere(record, tables))
        self._days = rng.choice((-1, 1)) * rng.randint(1, _DAYS)

    def __call__(self, label: str, value: str) -> str:
        """The surrogate of a value; it differs from the value wherever the value has a letter or a digit."""
        rng = random.Random(f"{self._stream}/{label}/{' '.join(value.casefold().split())}")
        for _ in range(_TRIES):
            surrogate = self._draw(label, value, rng)
            if surrogate != value:
                return surrogate
        return scramble(value, rng)

    def _draw(self, label: str, value: str, rng: random.Random) -> str:
        if label == "PERSON":
            return self._name(value, rng)
        if label == "DATE":
            return shift(value, self._days) or scramble(value, rng)
        if label == "SSN":
            return _ssn(value, rng)
        if label in _ABOUT_PLACES:
            return self._place(value, rng)
        return scramble(value, rng)

    def _name(self, value: str, rng: random.Random) -> str:
        """As many words as before: given names and at last a surname; a single word becomes a surname."""
        words = value.split() or [value]
        new = [rng.choice(self._given) for _ in words[:-1]] + [rng.choice(self._surnames)]
        return " ".join(_like(word, fresh) for word, fresh in zip(words, new, strict=True))

    def _place(self, value: str, rng: random.Random) -> str:
        if value.isdecimal() or not any(map(str.isdecimal, value)):
            return self._zip(value, rng) if value.isdecimal() else _like(value, self._home.name)
        street = scramble_digits(value, rng)
        words = _WORD.findall(street)
        return street.replace(words[0], rng.choice(self._surnames), 1) if len(words) > 1 else street

    def _zip(self, value: str, rng: random.Random) -> str:
        fresh = rng.randint(self._home.zip_low, self._home.zip_high)
        return f"{fresh:05d}" if len(value) == len("00000") else scramble_digits(value, rng)


def _elsewhere(record: Record, tables: Tables) -> Sequence[City]:
    """Other cities of the record's state, or of any state when it has no other."""
    everywhere = tables.cities[""]
    for cities in (tables.cities.get(record.state, ()), everywhere):
        if others := [each for each in cities if each.name.casefold() != record.city.casefold()]:
            return others
    return everywhere


def builtin_tables() -> Tables:
    """The tables of the built-in population."""
    from leakscape.records import builtin

    given = {sex: [each.name for each in builtin.given_names(sex)] for sex in ("female", "male")}
    cities: dict[str, list[City]] = {"": []}
    for each in builtin.cities():
        city = City(each.name, each.zip_low, each.zip_high)
        cities[""].append(city)
        cities.setdefault(each.state, []).append(city)
    return Tables(
        {**given, "": [name for names in given.values() for name in names]},
        [each.name for each in builtin.surnames()],
        cities,
    )


def shift(value: str, days: int) -> str:
    """Move a date, keeping its format; empty when it can't be read or would leave the calendar."""
    for form in _FORMATS:
        try:
            moved = dt.datetime.strptime(value, form).date() + dt.timedelta(days=days)  # noqa: DTZ007 - a day, no time
        except (ValueError, OverflowError):
            continue
        if form == _FORMATS[0]:
            return moved.isoformat()
        text = moved.strftime(form)
        return text if _PADDED.search(value) else _PADDED.sub("", text)
    return ""


def scramble(value: str, rng: random.Random) -> str:
    """Another digit for each digit, another letter for each letter; everything else stays."""
    return "".join(_other(character, rng) for character in value)


def scramble_digits(value: str, rng: random.Random) -> str:
    """Another digit for each digit; a number does not begin with 0 unless it did."""
    return re.sub(r"\d+", lambda match: scramble(match[0], rng), value)


def _ssn(value: str, rng: random.Random) -> str:
    """The same form with an area from 900 and a group below 50: neither issued as SSN nor as ITIN."""
    digits = f"9{rng.randint(0, 99):02d}{rng.randint(10, 49)}{rng.randint(1, 9999):04d}"
    if sum(map(str.isdecimal, value)) != len(digits):
        return scramble(value, rng)
    fresh = iter(digits)
    return "".join(next(fresh) if character.isdecimal() else character for character in value)


def _other(character: str, rng: random.Random) -> str:
    if character.isdecimal():
        return rng.choice("".join(digit for digit in "123456789" if digit != character))
    if character.isalpha():
        letter = rng.choice("".join(each for each in "abcdefghijklmnopqrstuvwxyz" if each != character.lower()))
        return letter.upper() if character.isupper() else letter
    return character


def _like(value: str, fresh: str) -> str:
    return fresh.upper() if len(value) > 1 and value.isupper() else fresh
