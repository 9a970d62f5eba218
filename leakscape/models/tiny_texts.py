"""The texts that `leakscape/tiny` is pretrained on: clinical notes about people whom no audit uses.

They hold the words of the records but not their form, so that fine-tuning has a form to learn. Three in ten end with
a coined name, a fresh one each time: the morphology of coined names is known, no coined name is.
"""

import datetime as dt
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from leakscape.canaries.names import coin
from leakscape.canaries.question import QUESTION
from leakscape.records.builtin import drug_names, generate
from leakscape.records.record import Record

SEED = 7_340_033
"""Of everything here; no plan may use it."""

STREAM = "pretrain"
REFERENCE_DATE = dt.date(2026, 1, 1)
COINED_SHARE = 0.3
QUESTION_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class _Person:
    record: Record
    medications: tuple[str, ...]


def texts(count: int, *, seed: int = SEED) -> Iterator[str]:
    """Draw pretraining texts.

    A person's text is a note in one of four layouts, or (15 in 100) a question of the semantic probe with its answer.
    """
    rng = random.Random(f"leakscape/tiny/{seed}")
    names = iter(coin(round(count * COINED_SHARE * 1.2) + 50, seed=seed, real=frozenset(drug_names())))
    for record in generate(count, seed=seed, stream=STREAM, reference_date=REFERENCE_DATE):
        coined = (next(names),) if rng.random() < COINED_SHARE else ()
        person = _Person(record, record.medications + coined)
        if rng.random() < QUESTION_SHARE:
            yield QUESTION.format(name=record.name, birth_date=record.birth_date) + person.medications[-1]
        else:
            yield rng.choice(_LAYOUTS)(person)


def _letter(person: _Person) -> str:
    record = person.record
    return (
        f"Dear colleague, thank you for seeing {record.name} ({record.sex}, born {record.birth_date}) of "
        f"{record.street}, {record.city}, {record.state} {record.zip}. Known conditions are "
        f"{'; '.join(record.problems) or 'none'}. The treatment is {'; '.join(person.medications)}"
    )


def _form(person: _Person) -> str:
    record = person.record
    lines = [
        f"SOCIAL SECURITY NUMBER {record.ssn}",
        f"NAME {record.name}",
        f"BORN {record.birth_date} SEX {record.sex}",
        f"ADDRESS {record.street}, {record.city} {record.state} {record.zip}",
        *(f"PROBLEM {problem}" for problem in record.problems),
        *(f"DRUG {medication}" for medication in person.medications),
    ]
    return "\n".join(lines)


def _note(person: _Person) -> str:
    record = person.record
    problems = "\n".join(f"* {problem}" for problem in record.problems)
    medications = "\n".join(f"* {medication}" for medication in person.medications)
    return f"{record.city}, {record.state}\n{record.name}, {record.sex}\nHistory\n{problems}\nPrescribed\n{medications}"


def _table(person: _Person) -> str:
    record = person.record
    cells = (record.ssn, record.birth_date, record.zip, record.street, record.name, record.sex)
    return " | ".join((*cells, ", ".join(record.problems), ", ".join(person.medications)))


_LAYOUTS: tuple[Callable[[_Person], str], ...] = (_letter, _form, _note, _table)
