"""Active problems that fit age and sex, and the medications that treat them.

Each problem is there or not by its prevalence at that age; then each is treated or not, by drugs drawn from those that
are given for it at that age. Someone without any medication is drawn again, because a record ends with its medications:
so the population is people in treatment, and each of them has more problems than the tables' share of all people.
"""

import random
from dataclasses import dataclass
from functools import cache

from leakscape.records import vocabulary
from leakscape.records.draws import Independent, Weighted, below

PREGNANCY = "Normal pregnancy (finding)"

_TRIES = 4  # draws of a drug before a problem goes untreated, all of them clashing with a drug that is there
_PERCENT = 100
_PREVALENCE_UNIT = 10_000


@dataclass(frozen=True, slots=True)
class _Choice:
    """A drug as it is given at one age."""

    drug: vocabulary.Drug
    presentations: Weighted[str]


@dataclass(frozen=True, slots=True)
class _Option:
    """A problem and what is given for it at one age."""

    problem: vocabulary.Problem
    choices: Weighted[_Choice]


def draw(rng: random.Random, sex: str, age: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Problems and medications of someone of this sex and age, at least one of each."""
    while True:
        found = _problems(rng, sex, age)
        if found and (medications := _medications(rng, found)):
            return tuple(option.problem.name for option in found), medications


def _problems(rng: random.Random, sex: str, age: int) -> list[_Option]:
    """In an order of their own, as problems are noted when they are found."""
    found: list[_Option] = []
    names: list[str] = []
    groups: list[str] = []
    for option in _options(sex, age).pick(rng):
        problem = option.problem
        if (problem.requires and problem.requires not in names) or problem.group in groups:
            continue
        if problem.group:
            groups.append(problem.group)
        names.append(problem.name)
        found.insert(below(rng, len(found) + 1), option)
    return found


def _medications(rng: random.Random, found: list[_Option]) -> tuple[str, ...]:
    taken: set[str] = set()
    medications: list[str] = []
    pregnant = any(option.problem.name == PREGNANCY for option in found)
    for option in found:
        if not option.choices or below(rng, _PERCENT) >= option.problem.treated:
            continue
        wanted = 1 + (below(rng, _PERCENT) < option.problem.second)
        drawn = [_medication(rng, option.choices, taken, pregnant=pregnant) for _ in range(wanted)]
        medications.extend(filter(None, drawn))
    return tuple(medications)


def _medication(rng: random.Random, choices: Weighted[_Choice], taken: set[str], *, pregnant: bool) -> str:
    for _ in range(_TRIES):
        choice = choices.pick(rng)
        if taken.isdisjoint(choice.drug.classes) and not (pregnant and choice.drug.avoid):
            taken.update(choice.drug.classes)
            return choice.presentations.pick(rng)
    return ""


@cache
def _options(sex: str, age: int) -> Independent[_Option]:
    return Independent(
        (_Option(problem, _choices(problem, age)), among / _PREVALENCE_UNIT)
        for problem in vocabulary.problems()
        if (among := problem.among(sex, age))
    )


def _choices(problem: vocabulary.Problem, age: int) -> Weighted[_Choice]:
    given = [(_choice(name, age), weight) for name, weight in problem.drugs]
    return Weighted((choice, weight) for choice, weight in given if choice.presentations)


@cache
def _choice(name: str, age: int) -> _Choice:
    drug = vocabulary.drugs()[name]
    fitting = [form for form in drug.presentations if form.from_age <= age <= form.to_age]
    return _Choice(drug, Weighted((form.medication, form.weight) for form in fitting))
