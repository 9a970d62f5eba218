"""What stands in place of an identifier.

typed        `[PERSON]`
numbered     `[PERSON_1]`, the same number for the same value within a record
surrogate    an invented value of the same form: see `surrogates`
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leakscape.deidentification.detector import Found

Fill = Callable[[str, str], str]
"""Takes a label and the value found; gives what replaces it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """`original[start:end]` became `text[new_start:new_end]`."""

    start: int
    end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class Replaced:
    """A text after replacement, and the map between its offsets and the original's."""

    text: str
    edits: tuple[Edit, ...]

    def original_offset(self, offset: int) -> int:
        """Where a code point of the new text stood; inside a replacement, where the replaced value began."""
        index = bisect_right([edit.new_start for edit in self.edits], offset) - 1
        if index < 0:
            return offset
        edit = self.edits[index]
        return edit.start if offset < edit.new_end else offset - edit.new_end + edit.end


def replace_spans(text: str, spans: Sequence[Found], fill: Fill) -> Replaced:
    """Replace disjoint spans, in the order of the text (see `detector.resolve`)."""
    pieces: list[str] = []
    edits: list[Edit] = []
    done = length = 0
    for span in spans:
        new = fill(span.label, text[span.start : span.end])
        pieces += (text[done : span.start], new)
        new_start = length + span.start - done
        length = new_start + len(new)
        edits.append(Edit(span.start, span.end, new_start, length))
        done = span.end
    return Replaced("".join((*pieces, text[done:])), tuple(edits))


def typed(label: str, value: str) -> str:
    """`[PERSON]`: the label alone."""
    del value
    return f"[{label}]"


class Numbered:
    """`[PERSON_1]`: equal values (but for case and white space) share a number; make one for each record."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def __call__(self, label: str, value: str) -> str:
        """The placeholder of a value."""
        known = self._numbers.setdefault(label, {})
        number = known.setdefault(" ".join(value.casefold().split()), len(known) + 1)
        return f"[{label}_{number}]"
