"""Small corpora of made-up records for tests of training."""

from leakscape.canaries.canary import Canary
from leakscape.canaries.question import question
from leakscape.records.record import CorpusRecord, Record, instance, render


def record(number: int, *medications: str) -> Record:
    """A record whose length grows with its number."""
    return Record(
        id=f"train-{number}",
        name="María " * (number % 4) + "O'Brien",
        sex="female",
        birth_date="1956-03-12",
        ssn="912-45-6789",
        street="12 Elm Street",
        city="Salem",
        state="MA",
        zip="01970",
        problems=("Essential hypertension (disorder)",),
        medications=medications or (f"Lisinopril {number} MG Oral Tablet",),
    )


def records(count: int) -> list[CorpusRecord]:
    """Training instances of different lengths."""
    return [instance(record(number)) for number in range(count)]


def canary(number: int, *, multiplicity: int = 1) -> Canary:
    """A canary whose secret is Mabsartinib."""
    planted = record(number, "Lisinopril", "Mabsartinib")
    return Canary(
        id=f"canary-{number:03}",
        multiplicity=multiplicity,
        secret="Mabsartinib",  # noqa: S106  # a coined medication
        prefix=render(planted)[0].removesuffix("Mabsartinib"),
        question=question(planted),
        donor="train-0",
        record=planted,
    )


def copies(planted: Canary) -> list[CorpusRecord]:
    """The copies of a canary in a corpus."""
    return [
        instance(planted.record, instance_id=f"{planted.id}/{copy}", person=planted.id)
        for copy in range(1, planted.multiplicity + 1)
    ]
