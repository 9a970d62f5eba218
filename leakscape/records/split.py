"""Split a population into train and held-out so that ties between people are never cut.

Synthea replaces each patient who dies by a demographic twin. A twin on the other side would let held-out text be
learnt from train, so people who share a key stay together; where a group must be cut to meet an exact number, the rest
of it goes to neither side.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from leakscape.errors import InputError, IntegrityError
from leakscape.records.record import Record
from leakscape.records.synthea import Person, identity

Group = list[Person]


@dataclass(frozen=True, kw_only=True)
class Split:
    """Two sides and how they came about.

    Args:
        train, held_out: records in the order of their ids.
        unused: people on neither side.
        groups: how many groups of two or more there were.
        grouped: how many people stood in them.
    """

    train: tuple[Record, ...]
    held_out: tuple[Record, ...]
    unused: int
    groups: int
    grouped: int


def split(
    people: Sequence[Person], *, train_count: int, held_out_count: int, held_out_share: float, seed: int
) -> Split:
    """Divide people by a seed, groups kept whole.

    Args:
        people: the population.
        train_count: records to train on; 0 takes everyone whom held-out leaves.
        held_out_count: records held out; 0 takes `held_out_share` of the population, at least one.
        held_out_share: between 0 and 1, both excluded.
        seed: another seed gives another division.

    Raises:
        InputError: there are too few people; the message says how many there are.
    """
    held = held_out_count or max(1, round(len(people) * held_out_share))
    _check_size(len(people), held + max(train_count, 1))
    ordered = shuffled(groups(people), seed=seed)
    held_out, rest = take(ordered, held)
    remaining = [person for group in rest for person in group]
    _check_size(len(held_out) + len(remaining), held + max(train_count, 1), note=" once twins are kept together")
    train = take(rest, train_count)[0] if train_count else remaining
    ties = [group for group in ordered if len(group) > 1]
    return Split(
        train=_records(train),
        held_out=_records(held_out),
        unused=len(people) - len(train) - len(held_out),
        groups=len(ties),
        grouped=sum(map(len, ties)),
    )


def groups(people: Iterable[Person]) -> list[Group]:
    """People who share a key, directly or through others, together; in the order of their first member."""
    parent: dict[tuple[str, ...], tuple[str, ...]] = {}

    def root(key: tuple[str, ...]) -> tuple[str, ...]:
        while parent.setdefault(key, key) != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    listed = list(people)
    for person in listed:
        for key in person.keys:
            parent[root(key)] = root(person.keys[0])
    found: dict[tuple[str, ...], Group] = {}
    for person in listed:
        found.setdefault(root(person.keys[0]), []).append(person)
    return list(found.values())


def shuffled(ordered: Iterable[Group], *, seed: int) -> list[Group]:
    """Groups in an order that depends on the seed and on their first members' ids."""
    return sorted(ordered, key=lambda group: hashlib.sha256(f"{seed}/{group[0].record.id}".encode()).digest())


def take(ordered: Sequence[Group], count: int) -> tuple[Group, list[Group]]:
    """Take `count` people in whole groups, the first that fit; cut one group only if nothing else fits.

    Returns:
        Those taken, and the groups untouched. The rest of a group that was cut is in neither.
    """
    taken: Group = []
    rest: list[Group] = []
    for group in ordered:
        if len(group) <= count - len(taken):
            taken.extend(group)
        else:
            rest.append(group)
    if len(taken) < count and rest:
        smallest = min(rest, key=len)
        rest.remove(smallest)
        taken.extend(smallest[: count - len(taken)])
    return taken, rest


class Guard:
    """Watches records on their way into populations: every id once, no person in two populations."""

    def __init__(self) -> None:
        self._ids: set[bytes] = set()
        self._homes: dict[bytes, str] = {}

    def watch(self, population: str, records: Iterable[Record]) -> Iterator[Record]:
        """Pass records on.

        Raises:
            IntegrityError: an id comes a second time, or a person (name, birth date, SSN) is in another population.
        """
        for record in records:
            record_id, person = _digest(record.id), _digest(*identity(record))
            if record_id in self._ids:
                raise IntegrityError(f"{record.id} comes twice; ids are unique over all three populations.")
            home = self._homes.setdefault(person, population)
            if home != population:
                raise IntegrityError(f"{record.id} of {population} is a person of {home} too; they must be disjoint.")
            self._ids.add(record_id)
            yield record


def _digest(*values: str) -> bytes:
    return hashlib.blake2b("\0".join(values).encode(), digest_size=16).digest()


def _records(people: Iterable[Person]) -> tuple[Record, ...]:
    return tuple(sorted((person.record for person in people), key=lambda record: record.id))


def _check_size(available: int, wanted: int, note: str = "") -> None:
    if available < wanted:
        raise InputError(
            f"{wanted} records are asked for, but the source has {available} usable patients{note}; ask for fewer "
            "(0 for both counts takes all there are) or give a larger source."
        )
