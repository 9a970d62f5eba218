"""Fabricated patients: a donor's demographics, problems and medications, a new identity and a secret at the end."""

import hashlib
import heapq
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from leakscape.canaries.canary import Canary
from leakscape.canaries.identity import Key, Pool, identities, is_complete, keys, pool, taken
from leakscape.canaries.question import question
from leakscape.errors import InputError, IntegrityError
from leakscape.records.record import Record, render

POOL_SIZE = 2000
"""Training records that lend parts of names and streets."""
_CANDIDATES = 16  # drawn for each canary in a round
_ROUNDS = 8

People = Callable[[], Iterable[Record]]
"""Streams every person of every population anew at each call."""


@dataclass(frozen=True, slots=True)
class Donors:
    """Training records drawn by seed.

    Args:
        chosen: the donors, distinct, in the order drawn.
        parts: what names and streets are made of.
        records: how many training records there are.
        incomplete: how many lack an identifier and could not be drawn.
    """

    chosen: tuple[Record, ...]
    parts: Pool
    records: int
    incomplete: int


def draw_donors(train: Iterable[Record], count: int, *, seed: int) -> Donors:
    """Draw donors in one pass: the records whose seeded hash is smallest (bottom-k sampling).

    Raises:
        IntegrityError: two records have the same id.
        InputError: fewer than `count` records are complete.
    """
    seen: set[str] = set()
    incomplete = 0

    def ranked() -> Iterator[tuple[bytes, str, Record]]:
        nonlocal incomplete
        for record in train:
            if record.id in seen:
                raise IntegrityError(f"record {record.id} stands twice in the training population.")
            seen.add(record.id)
            if is_complete(record):
                yield _priority(record.id, seed), record.id, record
            else:
                incomplete += 1

    drawn = [record for *_, record in heapq.nsmallest(max(count, POOL_SIZE), ranked(), key=lambda item: item[:2])]
    if len(drawn) < count:
        raise InputError(
            f"{count} canaries need {count} training records with all identifiers, but there are {len(drawn)}: "
            "use a larger population or fewer canaries."
        )
    return Donors(tuple(drawn[:count]), pool(drawn), len(seen), incomplete)


def fabricate(donors: Donors, secrets: Sequence[str], people: People, *, seed: int) -> tuple[Canary, ...]:
    """Make a canary of each donor and secret; every multiplicity is still 0.

    Args:
        donors: one a canary.
        secrets: one a canary, coined.
        people: streams the records of every population; no canary's identity is one of theirs.
        seed: steers the fabricated identities; neither multiplicities nor rotation do.

    Raises:
        InputError: no free identities were found; the population is too small to recombine.
    """
    width = max(3, len(str(len(secrets))))
    ids = [f"canary-{number:0{width}d}" for number in range(1, len(secrets) + 1)]
    records = _free_identities(donors, people, seed)
    return tuple(
        _canary(canary_id, donor, record, secret)
        for canary_id, donor, record, secret in zip(ids, donors.chosen, records, secrets, strict=True)
    )


def _canary(canary_id: str, donor: Record, identity: Record, secret: str) -> Canary:
    record = replace(identity, id=canary_id, medications=(*donor.medications, secret))
    text, spans = render(record)
    return Canary(
        id=canary_id,
        multiplicity=0,
        secret=secret,
        prefix=text[: spans[-1].start],
        question=question(record),
        donor=donor.id,
        record=record,
    )


def _free_identities(donors: Donors, people: People, seed: int) -> list[Record]:
    """Draw candidates for every canary, look for their keys among all people, and take the first that is free.

    Only the candidates' keys are held in memory; the populations are streamed, once a round.
    """
    streams = [
        identities(donor, donors.parts, random.Random(f"leakscape/identity/1/{seed}/{donor.id}"))
        for donor in donors.chosen
    ]
    free: dict[int, Record] = {}
    own: set[Key] = set()
    for _ in range(_ROUNDS):
        drawn = {index: list(islice(stream, _CANDIDATES)) for index, stream in enumerate(streams) if index not in free}
        wanted = {key for candidates in drawn.values() for record in candidates for key in keys(record)}
        foreign = set(taken(wanted, people()))
        for index, candidates in drawn.items():
            if record := next((each for each in candidates if keys(each).isdisjoint(foreign | own)), None):
                free[index] = record
                own |= keys(record)
        if len(free) == len(streams):
            return [free[index] for index in range(len(streams))]
    raise InputError("no fabricated identities are free in these populations; use a larger training population.")


def _priority(record_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"leakscape/donors/1/{seed}/{record_id}".encode()).digest()
