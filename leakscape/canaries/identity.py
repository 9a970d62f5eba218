"""Fabricated identities that look like the population's and belong to nobody in it.

Names and streets are recombined from parts of the training records, so that a canary has the form of its population
whatever the source (accents, numeric suffixes, middle names). What singles a person out is new: the full name, the
SSN, the street address and the date of birth.
"""

import datetime as dt
import random
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from leakscape.errors import RecordError
from leakscape.records.record import Record

_OLDEST_SHIFT = 180  # days; small enough for the problems still to fit the age
_SSN_AREA = slice(0, 3)
_LAST_GROUP = 49  # 9xx areas were never issued as SSN, and groups below 50 not as ITIN either
_TRIES_BEFORE_LONG_NUMBER = 16
_TRIES_BEFORE_HYPHEN = 40

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """The parts that identities are made of.

    Args:
        given: given names by sex, as often as they were seen.
        surnames: surnames.
        streets: street names without their house number.
    """

    given: dict[str, tuple[str, ...]]
    surnames: tuple[str, ...]
    streets: tuple[str, ...]


def pool(records: Sequence[Record]) -> Pool:
    """Take names and streets of training records apart."""
    given: dict[str, list[str]] = {}
    surnames: list[str] = []
    streets: list[str] = []
    for record in records:
        first, _, last = record.name.rpartition(" ")
        given.setdefault(record.sex, []).append(first or last)
        surnames.append(last)
        number, _, street = record.street.partition(" ")
        streets.append(street if street and number.isdecimal() else record.street)
    return Pool({sex: tuple(names) for sex, names in given.items()}, tuple(surnames), tuple(streets))


def identities(donor: Record, parts: Pool, rng: random.Random) -> Iterator[Record]:
    """Endless candidates: the donor with a fabricated name, SSN, street and date of birth.

    The date of birth lies up to half a year before the donor's, so that it is never in the future. The further on,
    the wider the choice: house numbers get longer, and at last a surname is made of two.

    Raises:
        RecordError: the donor's date of birth is no date, or too early for an earlier one.
    """
    born = _date(donor)
    tries = 0
    while True:
        tries += 1
        surname = rng.choice(parts.surnames)
        if tries > _TRIES_BEFORE_HYPHEN:
            surname = f"{surname}-{rng.choice(parts.surnames)}"
        yield replace(
            donor,
            name=f"{rng.choice(parts.given[donor.sex])} {surname}",
            ssn=_ssn(donor.ssn, rng),
            street=f"{rng.randint(1, _house_numbers(tries))} {rng.choice(parts.streets)}",
            birth_date=(born - dt.timedelta(days=rng.randint(1, _OLDEST_SHIFT))).isoformat(),
        )


def keys(record: Record) -> frozenset[Key]:
    """What singles a person out; two people who share one of these can be taken for each other.

    The full name; the SSN; street and city; date of birth, sex and place together (Sweeney 2000: date of birth, sex
    and ZIP are unique for 87 % of the population of the USA).
    """
    found = {
        ("name", _plain(record.name)),
        ("ssn", "".join(filter(str.isdecimal, record.ssn))),
        ("address", _plain(record.street), _plain(record.city)),
        ("birth", record.birth_date, record.sex, _plain(record.city), record.zip or "-"),
    }
    return frozenset(key for key in found if all(key))


def taken(wanted: AbstractSet[Key], records: Iterable[Record]) -> dict[Key, str]:
    """The keys of `wanted` that a record holds, each with that record's id."""
    return {key: record.id for record in records for key in keys(record) & wanted}


def is_complete(record: Record) -> bool:
    """Whether a record can lend its form: every identifier is there."""
    return all((record.name, record.sex, record.birth_date, record.ssn, record.street, record.city))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _ssn(like: str, rng: random.Random) -> str:
    area = like[_SSN_AREA]
    if not (area.isdecimal() and area.startswith("9")):
        area = f"9{rng.randint(0, 99):02d}"
    return f"{area}-{rng.randint(10, _LAST_GROUP)}-{rng.randint(1, 9999):04d}"


def _house_numbers(tries: int) -> int:
    return 999 if tries <= _TRIES_BEFORE_LONG_NUMBER else 9999


def _date(donor: Record) -> dt.date:
    try:
        born = dt.date.fromisoformat(donor.birth_date)
    except ValueError:
        raise RecordError(f"record {donor.id}: birth_date is no date of the form YYYY-MM-DD.") from None
    if (born - dt.date.min).days < _OLDEST_SHIFT:
        raise RecordError(f"record {donor.id}: birth_date lies at the beginning of the calendar; correct the source.")
    return born
