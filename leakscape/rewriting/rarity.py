"""Which values of a corpus are rare: carried by few people."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from leakscape.records.record import LISTS, CorpusRecord


@dataclass(frozen=True)
class Rarity:
    """How many people carry each value, by kind (`problems`, `medications`).

    People are counted, not instances: a record that stands in the corpus 64 times is still one person's, and a data
    owner knows which rows are the same person.
    """

    people: dict[str, Counter[str]]
    rare_below: int

    def is_rare(self, kind: str, value: str) -> bool:
        """Whether fewer than `rare_below` people carry the value."""
        return self.people[kind][value] < self.rare_below

    def common(self, kind: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The values that are not rare, in a fixed order, and how many people carry each."""
        kept = sorted((value, count) for value, count in self.people[kind].items() if count >= self.rare_below)
        return tuple(value for value, _ in kept), tuple(count for _, count in kept)


def count_values(corpus: Iterable[CorpusRecord], *, rare_below: int) -> Rarity:
    """Count the people who carry each problem and medication of a corpus."""
    people: dict[str, Counter[str]] = {kind: Counter() for kind in LISTS}
    seen: set[str] = set()
    for record in corpus:
        if record.person in seen:
            continue
        seen.add(record.person)
        for kind in LISTS:
            people[kind].update(set(getattr(record.fields, kind)))
    return Rarity(people, rare_below)
