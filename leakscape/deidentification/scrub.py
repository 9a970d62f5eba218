"""Masks of a corpus, and the corpus under them.

Two passes: the first finds what to mask and writes it down without a value, the second replaces. The scrubbed corpus
follows from the corpus and the masks, so the masks say exactly what happened.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from leakscape.deidentification.detector import Detector, Found, common_label, resolve
from leakscape.deidentification.replacement import Fill, replace_spans
from leakscape.deidentification.residual import Residual
from leakscape.errors import IntegrityError
from leakscape.records.record import CorpusRecord, with_text


@dataclass(frozen=True, slots=True)
class Mask:
    """A masked span of the original text, in code points; never its value."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Masked:
    """What was masked in one record."""

    id: str
    spans: tuple[Mask, ...]


def mask(
    rows: Iterable[CorpusRecord], detector: Detector, residual: Residual, *, batch_size: int, threshold: float = 0.0
) -> Iterator[Masked]:
    """Find what to mask, in batches, and count it.

    Args:
        rows: the corpus.
        detector: looks at the texts.
        residual: is told of every record.
        batch_size: texts that are handed over at once.
        threshold: findings below this score are left alone.

    Returns:
        One `Masked` a record, in the order of the corpus.

    Raises:
        IntegrityError: the detector lost or doubled a text or left it, or two records have one id.
    """
    seen: set[str] = set()
    for batch in _batches(rows, batch_size):
        results = detector.detect([row.text for row in batch])
        if len(results) != len(batch):
            raise IntegrityError(f"the detector answered {len(results)} of {len(batch)} texts.")
        for row, found in zip(batch, results, strict=True):
            if row.id in seen:
                raise IntegrityError(f"record {row.id} stands twice in the corpus.")
            seen.add(row.id)
            sure = (Found(f.start, f.end, common_label(f.label), f.score) for f in found if f.score >= threshold)
            spans = resolve(row.text, sure)
            residual.add(row, spans)
            yield Masked(row.id, tuple(Mask(span.start, span.end, span.label) for span in spans))


def scrubbed(
    rows: Iterable[CorpusRecord], masks: Iterable[Masked], fill_for: Callable[[CorpusRecord], Fill]
) -> Iterator[CorpusRecord]:
    """Replace what is masked; each record gets a filler of its own.

    Raises:
        IntegrityError: the masks are not those of these records.
    """
    others = iter(masks)
    for row in rows:
        own = next(others, None)
        if own is None or own.id != row.id:
            raise IntegrityError(f"record {row.id} has no masks at its place.")
        spans = [Found(span.start, span.end, span.label) for span in own.spans]
        yield with_text(row, replace_spans(row.text, spans, fill_for(row)).text)
    if next(others, None) is not None:
        raise IntegrityError("there are masks of more records than the corpus has.")


def _batches(rows: Iterable[CorpusRecord], size: int) -> Iterator[Sequence[CorpusRecord]]:
    stream = iter(rows)
    while batch := list(islice(stream, size)):
        yield batch
