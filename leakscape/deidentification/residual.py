"""What is left of the known identifiers after masking, and what the masking cost.

The fields of a record are known, so a detector can be judged on the very corpus that it scrubs. Recall alone would
praise a detector that masks everything; therefore the share of masked characters that were identifiers (precision)
and the share of problems and medications left whole stand beside it. A recall of 1 says that the values as the fields
have them are gone. It does not say that nobody can be recognised.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from leakscape.deidentification.detector import Found, plain_marks
from leakscape.records.record import IDENTIFIERS, LABELS, LISTS, CorpusRecord, Record

KEPT = ("problems", "medications", "sex", "state")
"""What a scrubber should leave alone."""

Range = tuple[int, int]


@dataclass(slots=True)
class Residual:
    """Counts over a corpus; equal texts of one person (a canary's copies) count once.

    Args:
        known: identifiers that stood in a text, by type; `name_part` are the words of names.
        masked: of these, those of which every letter and digit was masked wherever they stood.
        ambiguous: identifiers that also occur in the record's own problems, medications or labels; not counted.
        facts: problems, medications, sex and state that stood in a text.
        intact: of these, those of which no character was masked.
        labels: spans masked, by label, over all texts.
        characters: letters and digits that were masked (`masked`), that belong to identifiers (`identifying`), both
            (`both`), and of all texts (`all`).
    """

    known: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)
    ambiguous: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    intact: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)
    records: int = 0
    distinct: int = 0
    _seen: set[bytes] = field(default_factory=set)

    def add(self, row: CorpusRecord, spans: Sequence[Found]) -> None:
        """Count one record; `spans` are disjoint and in the order of its text."""
        self.records += 1
        self.labels.update(span.label for span in spans)
        key = hashlib.sha256(f"{row.person}\n{row.text}".encode()).digest()[:16]
        if key in self._seen:
            return
        self._seen.add(key)
        self.distinct += 1
        hidden = bytearray(len(row.text))
        for span in spans:
            hidden[span.start : span.end] = b"\1" * (span.end - span.start)
        identifying = self._identifiers(row, hidden)
        self._facts(row, hidden)
        self._characters(row.text, hidden, identifying)

    def summary(self) -> dict[str, Any]:
        """The counts as shares with exact intervals, ready for `residual.json`."""
        return {
            "records": self.records,
            "distinct_texts": self.distinct,
            "spans_by_label": dict(sorted(self.labels.items())),
            "recall": {kind: share(self.masked[kind], self.known[kind]) for kind in sorted(self.known)},
            "ambiguous": dict(sorted(self.ambiguous.items())),
            "kept": {kind: share(self.intact[kind], self.facts[kind]) for kind in sorted(self.facts)},
            "characters": {
                **{name: self.characters[name] for name in ("all", "masked", "identifying", "both")},
                **_balance(self.characters["both"], self.characters["masked"], self.characters["identifying"]),
            },
        }

    def _identifiers(self, row: CorpusRecord, hidden: bytearray) -> bytearray:
        lowered = lower(row.text)
        elsewhere = _elsewhere(row.fields)
        identifying = bytearray(len(row.text))
        for kind, value in identifiers(row.fields):
            found = list(occurrences(lowered, value))
            if not found:
                continue
            if next(occurrences(elsewhere, value), None):
                self.ambiguous[kind] += 1
                continue
            for start, end in found:
                identifying[start:end] = b"\1" * (end - start)
            self.known[kind] += 1
            self.masked[kind] += all(_all_hidden(row.text, hidden, each) for each in found)
        return identifying

    def _facts(self, row: CorpusRecord, hidden: bytearray) -> None:
        lowered = lower(row.text)
        for kind in KEPT:
            values = getattr(row.fields, kind)
            for value in (values,) if isinstance(values, str) else values:
                found = list(occurrences(lowered, value))
                self.facts[kind] += bool(found)
                self.intact[kind] += bool(found) and any(not any(hidden[start:end]) for start, end in found)

    def _characters(self, text: str, hidden: bytearray, identifying: bytearray) -> None:
        words, masked, known = (int.from_bytes(each) for each in (bytes(map(str.isalnum, text)), hidden, identifying))
        self.characters["all"] += words.bit_count()
        self.characters["masked"] += (words & masked).bit_count()
        self.characters["identifying"] += (words & known).bit_count()
        self.characters["both"] += (words & masked & known).bit_count()


def identifiers(record: Record) -> Iterator[tuple[str, str]]:
    """The known identifiers of a record, by type; the words of a name (two letters or more) count by themselves too."""
    for kind in IDENTIFIERS:
        if value := getattr(record, kind):
            yield kind, value
    parts = record.name.split()
    yield from (("name_part", part) for part in dict.fromkeys(parts) if len(part) > 1 and len(parts) > 1)


def occurrences(lowered: str, value: str) -> Iterator[Range]:
    """Where `value` stands in a lower-case text, in any case, neither inside a word nor inside a number."""
    wanted = lower(value)
    start = lowered.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        if not (lowered[start - 1 : start].isalnum() or lowered[end : end + 1].isalnum()):
            yield start, end
        start = lowered.find(wanted, start + 1)


def lower(text: str) -> str:
    """Lower case and plain marks with as many code points as before, so that offsets stay."""
    text = plain_marks(text)
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def share(part: int, whole: int) -> dict[str, Any]:
    """A share with its exact 95 % interval (Clopper-Pearson; 0 of 20 -> at most 0.168).

    Returns:
        `value`, `low`, `high` and `n`; `n` alone when nothing was counted.
    """
    if not whole:
        return {"n": 0}
    from scipy.stats import binomtest

    interval = binomtest(part, whole).proportion_ci(confidence_level=0.95, method="exact")
    return {"value": part / whole, "low": float(interval.low), "high": float(interval.high), "n": whole}


def _balance(both: int, masked: int, identifying: int) -> dict[str, float]:
    """Precision, recall and their harmonic mean; a figure without a denominator is left out."""
    figures: dict[str, float] = {}
    if masked:
        figures["precision"] = both / masked
    if identifying:
        figures["recall"] = both / identifying
    if masked + identifying:
        figures["f1"] = 2 * both / (masked + identifying)
    return figures


def _all_hidden(text: str, hidden: bytearray, where: Range) -> bool:
    return all(hidden[index] for index in range(*where) if text[index].isalnum())


def _elsewhere(record: Record) -> str:
    values: Iterable[str] = (
        *record.problems,
        *record.medications,
        *LABELS.values(),
        *LISTS.values(),
        record.sex,
        record.state,
    )
    return lower("\n".join(values))
