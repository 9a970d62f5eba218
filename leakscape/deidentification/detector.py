"""What every detector is, and how its findings become spans to mask."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from leakscape.errors import IntegrityError

_GLUE = frozenset(" -.,'’")  # noqa: RUF001 - the apostrophe of names in running text
# Language models write non-breaking hyphens, narrow spaces and curly apostrophes where a record has plain ones.
_PLAIN_MARKS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-")
    | dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f", " ")
    | dict.fromkeys("\u2018\u2019\u02bc", "'")
)
_RELATED = {"US_SSN": "SSN", "US_ITIN": "SSN", "DATE_TIME": "DATE", "PHONE_NUMBER": "PHONE", "EMAIL_ADDRESS": "EMAIL"}
_PREFIX = "PRIVATE_"


@dataclass(frozen=True, slots=True)
class Found:
    """An identifier in a text: `text[start:end]`, in code points.

    Args:
        start: first code point.
        end: one past the last.
        label: what it is, in capitals (`PERSON`, `DATE`, `SSN`, ...).
        score: how sure the detector is, 0 to 1.
    """

    start: int
    end: int
    label: str
    score: float = 1.0


class Detector(Protocol):
    """Finds identifiers."""

    def detect(self, texts: Sequence[str]) -> list[list[Found]]:
        """Look at each text on its own.

        Returns:
            One list a text, in the order of the texts; nothing for an empty text. Findings may overlap.
        """
        ...


def plain_marks(text: str) -> str:
    """A text with plain hyphens, spaces and apostrophes; as long as before, so that offsets stay."""
    return text.translate(_PLAIN_MARKS)


def common_label(label: str) -> str:
    """One name for what detectors call differently: `US_SSN` is `SSN`, `private_person` is `PERSON`."""
    capital = label.upper()
    return _RELATED.get(capital, capital.removeprefix(_PREFIX))


def resolve(text: str, found: Iterable[Found]) -> tuple[Found, ...]:
    """Make findings disjoint, without uncovering a character that one of them covers.

    A finding ends at a line break and holds no white space at its ends. Findings that overlap become one, with the
    label of the longest. Neighbours of one label with at most a space, hyphen, full stop, comma or apostrophe between
    them become one too: models split long numbers (public report: `442 222 475` and `71`).

    Returns:
        Spans in the order of the text, with at least one character between two of the same label.

    Raises:
        IntegrityError: a finding lies outside the text.
    """
    whole: list[Found] = []
    for piece in sorted(_pieces(text, found), key=lambda each: (each.start, -each.end, -each.score, each.label)):
        if whole and _belong_together(text, whole[-1], piece):
            whole[-1] = _union(whole[-1], piece)
        else:
            whole.append(piece)
    return tuple(whole)


def _pieces(text: str, found: Iterable[Found]) -> Iterator[Found]:
    for each in found:
        if not 0 <= each.start <= each.end <= len(text):
            raise IntegrityError(f"a detector reported a {each.label} outside its text of {len(text)} characters.")
        start = each.start
        for line in text[each.start : each.end].splitlines(keepends=True):
            value = line.strip()
            if value:
                first = start + len(line) - len(line.lstrip())
                yield Found(first, first + len(value), each.label, each.score)
            start += len(line)


def _belong_together(text: str, left: Found, right: Found) -> bool:
    if right.start < left.end:
        return True
    gap = text[left.end : right.start]
    return left.label == right.label and (gap == "" or gap in _GLUE)


def _union(left: Found, right: Found) -> Found:
    longest = max(left, right, key=lambda each: (each.end - each.start, each.score))
    return Found(left.start, max(left.end, right.end), longest.label, max(left.score, right.score))
