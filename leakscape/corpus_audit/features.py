"""Rare features of people, and the search for all of them at once.

A feature is something that few people carry: an identifier, a rare problem or medication, a run of words that stands in
one person's record only. Texts and features are compared as words (`leakscape.judging.phrases`), so case, accents and
punctuation hide nothing. All features lie in one table by the digest of their words; a text is looked through once,
and at each word only for features that begin with it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from leakscape.judging.phrases import forms, words
from leakscape.records.record import IDENTIFIERS, LISTS, Record

RUN = "word_run"
KINDS = (*IDENTIFIERS, *LISTS, RUN)
"""The types of features, by the field of the record that they come from; `word_run` is of its whole text."""


@dataclass(slots=True)
class _Feature:
    kind: str
    carriers: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """People on each side: who carry a rare feature of one type, and of whom at least one was found."""

    train: int
    train_hits: int
    held_out: int
    held_out_hits: int


class FeatureIndex:
    """The rare features of two sides, and which of them were found.

    People are what is counted, since features of one person hang together: her eight-word runs overlap, and whoever
    copies her record copies them all. Which features are rare is decided over both sides together. Both keep the exact
    test exact: under the hypothesis that the corpus knows nothing of train, every division of these people into two
    sides of these sizes is equally likely.

    Args:
        rare_below: a value that this many people carry is not rare; 2 leaves what one person alone carries.
        run: length of a run in words. A run is rare only if no other person has it.
    """

    def __init__(self, *, rare_below: int, run: int) -> None:
        self._rare_below, self._run = rare_below, run
        self._features: dict[tuple[str, int], _Feature] = {}
        self._values: dict[int, list[_Feature]] = defaultdict(list)
        self._runs: dict[int, int] = {}
        self._lengths: dict[str, set[int]] = defaultdict(set)
        self._found: dict[str, set[int]] = {kind: set() for kind in KINDS}
        self._held_out: list[bool] = []

    def add(self, record: Record, text: str, *, held_out: bool) -> None:
        """Take up one person's features; `text` is what train or held-out shows of her."""
        person = len(self._held_out)
        self._held_out.append(held_out)
        for kind in IDENTIFIERS:
            self._add_value(kind, getattr(record, kind), person)
        for kind in LISTS:
            for value in dict.fromkeys(getattr(record, kind)):
                self._add_value(kind, value, person)
        found = words(text)
        for start in range(len(found) - self._run + 1):
            key = _key(found[start : start + self._run])
            if self._runs.setdefault(key, person) != person:
                self._runs[key] = _COMMON
            self._lengths[found[start]].add(self._run)

    def look(self, text: str) -> None:
        """Look for every feature in one text of the audited corpus."""
        found = words(text)
        for start, word in enumerate(found):
            for length in self._lengths.get(word, ()):
                if start + length <= len(found):
                    self._hit(_key(found[start : start + length]), length)

    def counts(self) -> dict[str, Count]:
        """The people who carry rare features and those of whom one was found, by type."""
        carriers: dict[str, set[int]] = {kind: set() for kind in KINDS}
        for feature in self._features.values():
            if len(feature.carriers) < self._rare_below:
                carriers[feature.kind].update(feature.carriers)
        carriers[RUN] = set(self._runs.values()) - {_COMMON}
        return {kind: self._count(carriers[kind], self._found[kind]) for kind in KINDS}

    def _count(self, carriers: set[int], found: set[int]) -> Count:
        held_out = sum(self._held_out[person] for person in carriers)
        phantoms = sum(self._held_out[person] for person in found)
        return Count(
            train=len(carriers) - held_out,
            train_hits=len(found) - phantoms,
            held_out=held_out,
            held_out_hits=phantoms,
        )

    def _add_value(self, kind: str, value: str, person: int) -> None:
        written = forms(kind, value)
        if not written:
            return
        own = (kind, _key(written[0]))
        if own not in self._features:
            self._features[own] = _Feature(kind)
            for phrase in written:
                self._values[_key(phrase)].append(self._features[own])
                self._lengths[phrase[0]].add(len(phrase))
        carriers = self._features[own].carriers
        if person not in carriers and len(carriers) < self._rare_below:
            carriers.append(person)

    def _hit(self, key: int, length: int) -> None:
        for feature in self._values.get(key, ()):
            if len(feature.carriers) < self._rare_below:
                self._found[feature.kind].update(feature.carriers)
        if length == self._run and (person := self._runs.get(key, _COMMON)) != _COMMON:
            self._found[RUN].add(person)


_COMMON = -1


def _key(phrase: Sequence[str]) -> int:
    """A digest of 64 bits: with a million features two of them meet with probability 3e-8."""
    return int.from_bytes(hashlib.blake2b(" ".join(phrase).encode(), digest_size=8).digest())
