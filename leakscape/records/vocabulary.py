"""The tables of people, places, problems and drugs that ship with the package (`tables/`, described in its README)."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from leakscape.errors import InputError

SEXES = ("female", "male")

_ANY = "any"
_ROUTE = re.compile(" (topical|nasal|ophthalmic|oral|vaginal|rectal)$")


@dataclass(frozen=True, slots=True)
class Named:
    """A name and how often it is drawn beside others of its kind; `sex` and `origin` are empty where they don't apply.

    `weight` is a relative frequency without unit.
    """

    name: str
    weight: int
    sex: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class City:
    """A city, its state's two letters and the ZIP codes it lies in (inclusive); weight is thousands of inhabitants."""

    name: str
    state: str
    zip_low: int
    zip_high: int
    weight: int


@dataclass(frozen=True, slots=True)
class Ages:
    """A band of ages in years (inclusive) and its weight for each sex."""

    first: int
    last: int
    female: int
    male: int


@dataclass(frozen=True, slots=True)
class Presentation:
    """A drug's strength and form as RxNorm writes it, for ages in years (inclusive)."""

    medication: str
    from_age: int
    to_age: int
    weight: int


@dataclass(frozen=True, slots=True)
class Drug:
    """A generic drug or combination.

    Args:
        classes: what it counts as; nobody takes two drugs of one class.
        avoid: `pregnancy`, or empty.
    """

    name: str
    classes: frozenset[str]
    avoid: str
    presentations: tuple[Presentation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem of one sex or both.

    Args:
        name: as SNOMED CT writes it, with its tag.
        sex: female, male or any.
        from_age, to_age: years, inclusive.
        prevalence: (first age of the band, people in 10,000), in order; among those who have `requires`, if that is
            given.
        group: nobody has two problems of one group. Empty: no group.
        requires: a problem that must be there first, or empty.
        treated, second: percent who take a drug for it, and of those, percent who take a second one.
        drugs: (drug, weight).
    """

    name: str
    sex: str
    from_age: int
    to_age: int
    prevalence: tuple[tuple[int, int], ...]
    group: str
    requires: str
    treated: int
    second: int
    drugs: tuple[tuple[str, int], ...]

    def among(self, sex: str, age: int) -> int:
        """How many of 10,000 people of this sex and age have it."""
        if self.sex not in (_ANY, sex) or not self.from_age <= age <= self.to_age:
            return 0
        return [share for first, share in self.prevalence if first <= age][-1]


@cache
def given_names(sex: str) -> tuple[Named, ...]:
    """Given names of a sex (`female` or `male`), with their origin.

    Raises:
        InputError: there are no names for this sex.
    """
    if sex not in SEXES:
        raise InputError(f"There are no given names for sex {sex!r}: choose one of {', '.join(SEXES)}.")
    return tuple(name for name in _named("given_names") if name.sex == sex)


@cache
def surnames() -> tuple[Named, ...]:
    """Surnames with their origin."""
    return _named("surnames")


@cache
def origins() -> tuple[Named, ...]:
    """Where names come from."""
    return tuple(Named(row["origin"], int(row["weight"])) for row in _rows("origins"))


@cache
def streets() -> tuple[Named, ...]:
    """Street names without their type."""
    return _named("streets")


@cache
def street_types() -> tuple[Named, ...]:
    """Street, Avenue, ..."""
    return _named("street_types")


@cache
def cities(state: str = "") -> tuple[City, ...]:
    """Cities of a state (its two letters), or all of them.

    Raises:
        InputError: the tables hold no such state.
    """
    found = tuple(
        City(row["city"], row["state"], int(row["zip_low"]), int(row["zip_high"]), int(row["weight"]))
        for row in _rows("cities")
        if state in ("", row["state"])
    )
    if not found:
        raise InputError("There is no city for this state: give the two letters of a US state, or DC.")
    return found


@cache
def ages() -> tuple[Ages, ...]:
    """Ages of people who take a medication."""
    return tuple(
        Ages(int(row["from_age"]), int(row["to_age"]), int(row["female"]), int(row["male"])) for row in _rows("ages")
    )


@cache
def drugs() -> Mapping[str, Drug]:
    """The drugs that people of the built-in population take, by name."""
    forms: dict[str, list[Presentation]] = {}
    for row in _rows("presentations"):
        form = Presentation(row["medication"], int(row["from_age"]), int(row["to_age"]), int(row["weight"]))
        forms.setdefault(row["drug"], []).append(form)
    found = {
        row["drug"]: Drug(row["drug"], frozenset(row["classes"].split()), row["avoid"], tuple(forms[row["drug"]]))
        for row in _rows("drugs")
    }
    return MappingProxyType(found)


@cache
def problems() -> tuple[Problem, ...]:
    """All problems; one that others require stands before them."""
    treatments: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for row in _rows("treatments"):
        treatments.setdefault((row["problem"], row["sex"]), []).append((row["drug"], int(row["weight"])))
    return tuple(_problem(row, tuple(treatments[row["problem"], row["sex"]])) for row in _rows("problems"))


@cache
def drug_names() -> frozenset[str]:
    """Generic names of real drugs in lower case: single ingredients, with and without their salt."""
    whole = {row["drug"] for table in ("drugs", "further_drugs") for row in _rows(table)}
    names: set[str] = set()
    for part in (part for name in whole for part in name.lower().split(" / ")):
        ingredient = _ROUTE.sub("", part)
        names.update((ingredient, ingredient.split()[0].rstrip(",")))
    return frozenset(names)


def _problem(row: dict[str, str], treatments: tuple[tuple[str, int], ...]) -> Problem:
    bands = {field.removeprefix("age_"): int(share) for field, share in row.items() if field.startswith("age_")}
    return Problem(
        name=row["problem"],
        sex=row["sex"],
        from_age=int(row["from_age"]),
        to_age=int(row["to_age"]),
        prevalence=tuple((int(first), share) for first, share in bands.items()),
        group=row["group"],
        requires=row["requires"],
        treated=int(row["treated"]),
        second=int(row["second"]),
        drugs=treatments,
    )


def _named(table: str) -> tuple[Named, ...]:
    return tuple(
        Named(row["name"], int(row["weight"]), row.get("sex", ""), row.get("origin", "")) for row in _rows(table)
    )


def _rows(table: str) -> list[dict[str, str]]:
    file = resources.files("leakscape.records") / "tables" / f"{table}.csv"
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
