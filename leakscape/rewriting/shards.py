"""Rewriting in parts side by side: each part whole records in a row, joined to what one step would have made."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from leakscape.errors import InputError
from leakscape.rewriting.job import Result
from leakscape.rewriting.ledger import Entry

Item = TypeVar("Item")


def bounds(count: int, *, shard: int, shards: int) -> tuple[int, int]:
    """The first record of a part and the one after its last, of `count` records; parts differ by one at most.

    Args:
        count: the records of the corpus.
        shard: which part, from 1; 0 with one part.
        shards: how many parts.

    Raises:
        InputError: there is no such part.
    """
    if shards == 1 and shard in (0, 1):
        return 0, count
    if not 1 <= shard <= shards:
        raise InputError(f"--shard must be 1 to {shards} with --shards {shards}, not {shard}.")
    return count * (shard - 1) // shards, count * shard // shards


def part(items: Iterable[Item], count: int, *, shard: int, shards: int) -> Iterator[Item]:
    """The items of a part, of `count` items; errors as for `bounds`."""
    first, end = bounds(count, shard=shard, shards=shards)
    return islice(items, first, end)


def join(parts: Sequence[Result]) -> Result:
    """The result of the whole job from those of its parts, in the order that one step would have had.

    One step asks stage by stage and, within a stage, attempt by attempt, each time in the order of the corpus.
    """
    stages: dict[str, int] = {}
    entries = [entry for result in parts for entry in result.entries]
    for entry in entries:
        stages.setdefault(_stage(entry), len(stages))
    whole = Result(duplicates=sum(result.duplicates for result in parts))
    whole.entries = sorted(entries, key=lambda entry: (stages[_stage(entry)], entry.attempt))
    for result in parts:
        whole.texts |= result.texts
        whole.quarantined |= result.quarantined
    return whole


def _stage(entry: Entry) -> str:
    return entry.request.rpartition("|")[2]
