"""The two sides of an audit: the people a corpus was made from, and people it never saw."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from leakscape.canaries.canary import Canary
from leakscape.corpus_audit.features import FeatureIndex
from leakscape.errors import InputError
from leakscape.records.record import CorpusRecord, Record, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """How many people stand on each side, and how many canaries were left aside."""

    train: int
    held_out: int
    canaries: int


def take_up(
    index: FeatureIndex, original: Iterable[CorpusRecord], held_out: Iterable[Record], canaries: Collection[Canary]
) -> Cohort:
    """Put the features of both sides into an index, each person once.

    Canaries are left aside: they are invented, so nobody in held-out is like them; their secrets are audited as coined
    names.

    Args:
        index: takes the features.
        original: the corpus before any defence.
        held_out: people whom it never saw.
        canaries: those that were planted in it.

    Raises:
        InputError: a canary of the corpus is missing in it, a person stands on both sides, or a side is empty.
        RecordError: a held-out record can't be rendered.
    """
    invented = {canary.id for canary in canaries}
    people: set[str] = set()
    for record in original:
        if record.person not in people:
            people.add(record.person)
            if record.person not in invented:
                index.add(record.fields, record.text, held_out=False)
    missing = sorted(canary.id for canary in canaries if canary.multiplicity and canary.id not in people)
    if missing:
        raise InputError(f"`original` lacks {missing[0]}: the canaries were planted in another corpus.")
    unseen = 0
    for other in held_out:
        unseen += 1
        if other.id in people:
            raise InputError(f"{other.id} stands in `original` and in held-out, but nobody may stand on both sides.")
        index.add(other, render(other)[0], held_out=True)
    train = len(people - invented)
    if not (train and unseen):
        raise InputError("an audit needs people on both sides: `original` or held-out holds none.")
    return Cohort(train=train, held_out=unseen, canaries=len(people & invented))
