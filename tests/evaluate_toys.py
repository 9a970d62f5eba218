"""A small corpus with canaries, one of them left out by a coin, and what the component measures of it."""

from collections.abc import Iterable
from pathlib import Path

from components.evaluate.contract import Evaluate
from components.evaluate.run import run
from leakscape import artifacts
from leakscape.canaries.canary import Canary
from leakscape.canaries.insert import copy_of
from leakscape.canaries.question import question
from leakscape.records.record import Record, instance, render
from leakscape.scoring.measurements import Measurements, read

SECRETS = ("Mabsartinib", "Cardolozan", "Tivoprilat")
NAMES = [f"{head}{tail}" for head in ("Bex", "Dor", "Fen", "Gul", "Hib", "Jol") for tail in ("ovir", "azole", "pril")]


def record(record_id: str, *medications: str) -> Record:
    return Record(
        id=record_id,
        name=f"Zoë {record_id.replace('-', '')}",
        sex="female",
        birth_date="1956-03-12",
        ssn="",
        street="",
        city="",
        state="MA",
        zip="",
        problems=(),
        medications=medications,
    )


def canary(number: int, multiplicity: int) -> Canary:
    made = record(f"canary-{number:03d}", "Lisinopril 10 MG Oral Tablet", SECRETS[number - 1])
    text, spans = render(made)
    return Canary(
        id=made.id,
        multiplicity=multiplicity,
        secret=made.medications[-1],
        prefix=text[: spans[-1].start],
        question=question(made),
        donor="p-1",
        record=made,
    )


CANARIES = (canary(1, 4), canary(2, 0), canary(3, 1))  # a coin left the second one out
HELD_OUT = tuple(record(f"h-{number}", "Metformin") for number in range(1, 5))
TRAIN = tuple(record(f"t-{number}", "Amlodipine") for number in range(1, 7))
COPIES = [copy_of(each, copy) for each in CANARIES for copy in range(1, each.multiplicity + 1)]
ORIGINAL = [*COPIES[:2], *map(instance, TRAIN), *COPIES[2:]]


def save(path: Path, schema: str, **files: Iterable[object]) -> Path:
    with artifacts.create(path, schema=schema, provenance=artifacts.Provenance()) as folder:
        for name, rows in files.items():
            folder.write_rows(f"{name}.jsonl", rows)
    return path


def measured(contract: Evaluate) -> Measurements:
    run(contract)
    return read(contract.measurements)
