"""Rewritten records beside their sources."""

import hashlib
import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from leakscape.errors import IntegrityError
from leakscape.records.record import CorpusRecord

_COPIES = re.compile(r"(?:/r\d+)*")


@dataclass(frozen=True, slots=True)
class Pair:
    """A rewritten record (its id and text) and the record that it was made from."""

    id: str
    source: CorpusRecord
    text: str


def pairs(original: Iterable[CorpusRecord], corpus: Iterable[CorpusRecord]) -> Iterator[Pair]:
    """Join a corpus to the one it was made from, by id; both are streamed.

    A step on a corpus keeps the order, may leave records out (quarantine) and may add `/r1`, `/r2`, ... to an id
    (several rewrites of one record).

    Raises:
        IntegrityError: a record has no source in its place, belongs to another person than its source, or comes twice.
    """
    sources = iter(original)
    source = next(sources, None)
    seen: set[str] = set()
    for record in corpus:
        while source is not None and not _made_from(record.id, source.id):
            source = next(sources, None)
        if source is None:
            raise IntegrityError(
                f"record {record.id} has no source, or not in its place: `original` must be the corpus that this one "
                "was made from."
            )
        if record.person != source.person:
            raise IntegrityError(f"record {record.id} belongs to another person than its source.")
        if record.id in seen:
            raise IntegrityError(f"record {record.id} stands twice in the corpus.")
        seen.add(record.id)
        yield Pair(record.id, source, record.text)


def draw(ids: Iterable[str], count: int, *, seed: int) -> frozenset[str]:
    """`count` of the ids (all if there are fewer), by a seed.

    An id's place depends on itself and the seed alone, so that under every condition the same records are drawn.
    """

    def place(name: str) -> bytes:
        return hashlib.sha256(f"{seed}|{name}".encode()).digest()

    return frozenset(heapq.nsmallest(count, ids, key=place))


def _made_from(made: str, source: str) -> bool:
    return made.startswith(source) and _COPIES.fullmatch(made, len(source)) is not None
