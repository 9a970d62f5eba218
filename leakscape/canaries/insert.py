"""Planting: canaries from populations, and the corpus that holds their copies.

    planted = plant(train, others, settings, real_drugs)
    for instance in corpus(train(), planted, seed=settings.seed):
        ...

Populations are streamed; what is held in memory grows with the canaries, and with the ids of the records.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from leakscape.canaries.assignment import multiplicities_of, spread, toss
from leakscape.canaries.canary import Canary
from leakscape.canaries.fabricate import Donors, draw_donors, fabricate
from leakscape.canaries.names import coin
from leakscape.canaries.search import NameSearch
from leakscape.errors import InputError, IntegrityError
from leakscape.records.record import CorpusRecord, Record, instance, render

Stream = Callable[[], Iterable[Record]]
"""Streams a population anew at each call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How canaries are planted.

    Args:
        count: canaries.
        multiplicities: copies of a canary, by group; checked by `check_multiplicities`.
        alternatives: coined names that are planted nowhere, for exposure.
        rotation: turns the assignment of groups to multiplicities; everything else about a canary stays.
        coins: leave each canary out by a fair coin.
        seed: steers names, donors, identities, groups, coins and places, each by a stream of its own.
    """

    count: int
    multiplicities: tuple[int, ...]
    alternatives: int
    rotation: int = 0
    coins: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Planted:
    """The canaries, the unplanted alternatives and the donors."""

    canaries: tuple[Canary, ...]
    alternatives: tuple[str, ...]
    donors: Donors


def plant(train: Stream, others: Sequence[Stream], settings: Settings, real_drugs: Iterable[str]) -> Planted:
    """Coin names, fabricate patients and deal multiplicities.

    Args:
        train: the population that the corpus is made of.
        others: populations that share no person with a canary either (held-out, exemplars).
        settings: see there.
        real_drugs: names that no coined one may be or resemble.

    Raises:
        InputError: the population is too small, or a coined name occurs in a population.
        IntegrityError: a record stands twice.
        RecordError: a record can't be rendered.
    """

    def people() -> Iterator[Record]:
        return chain(train(), *(stream() for stream in others))

    names = coin(settings.count + settings.alternatives, seed=settings.seed, real=frozenset(real_drugs))
    secrets, alternatives = names[: settings.count], names[settings.count :]
    donors = draw_donors(train(), settings.count, seed=settings.seed)
    canaries = _deal(fabricate(donors, secrets, people, seed=settings.seed), settings)
    check_names(NameSearch(names), people(), canaries)
    return Planted(canaries, alternatives, donors)


def check_names(search: NameSearch, people: Iterable[Record], canaries: Iterable[Canary]) -> None:
    """Make sure that each secret stands at the end of its own canary and nowhere else, and no alternative anywhere.

    Raises:
        InputError: with the id of the record that holds a coined name.
        IntegrityError: a canary does not hold exactly its own secret, once and at the end.
    """
    for record in people:
        if search.find(render(record)[0]):
            raise InputError(f"record {record.id} holds a coined medication name; plant with another seed.")
    for canary in canaries:
        text = render(canary.record)[0]
        if text != canary.prefix + canary.secret or search.find(canary.prefix + canary.question):
            raise IntegrityError(f"{canary.id} holds another text than its prefix and its own secret.")


def corpus(train: Iterable[Record], planted: Planted, *, seed: int) -> Iterator[CorpusRecord]:
    """Stream the corpus: every training record once, in order, and among them the copies of the canaries.

    Copy 3 of `canary-007` has the id `canary-007/3` and the person `canary-007`.

    Raises:
        InputError: a record has the id of a canary.
        IntegrityError: the population has changed since the donors were drawn.
    """
    canaries = planted.canaries
    places = spread(planted.donors.records, [canary.multiplicity for canary in canaries], seed=seed)
    names = {canary.id for canary in canaries}
    records = iter(train)
    for place in range(planted.donors.records + len(places)):
        if place in places:
            number, copy = places[place]
            yield copy_of(canaries[number], copy)
        else:
            yield _untouched(next(records, None), names)
    if next(records, None) is not None:
        raise IntegrityError("the training population has grown while canaries were planted.")


def copy_of(canary: Canary, copy: int) -> CorpusRecord:
    """One copy of a canary, counted from 1."""
    return instance(canary.record, instance_id=f"{canary.id}/{copy}", person=canary.id)


def _untouched(record: Record | None, canaries: set[str]) -> CorpusRecord:
    if record is None:
        raise IntegrityError("the training population has shrunk while canaries were planted.")
    if record.id.partition("/")[0] in canaries:
        raise InputError(f"record {record.id} has the id of a canary; give the population other ids.")
    return instance(record)


def _deal(canaries: Sequence[Canary], settings: Settings) -> tuple[Canary, ...]:
    dealt = multiplicities_of(settings.count, settings.multiplicities, seed=settings.seed, rotation=settings.rotation)
    kept = toss(dealt, seed=settings.seed) if settings.coins else dealt
    return tuple(
        replace(canary, multiplicity=multiplicity, would_have=would_have)
        for canary, multiplicity, would_have in zip(canaries, kept, dealt, strict=True)
    )
