"""The best valid sequence of tags, and the spans it says.

Token classifiers name their labels in one of three schemes, and the labels tell which:

    BIOES   B-x I-x E-x S-x O   (BILOU: L for E, U for S)
    BIO     B-x I-x O
    plain   x O                 neighbours with one label are one span; I-x without any B-x is read so too

Taken by itself the best tag of each token can make no sense (an `E-x` behind nothing); Viterbi finds the most likely
sequence that does (Viterbi 1967; for chunking tags Ratinov & Roth 2009).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from leakscape.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OTHER_NAMES = {"L": "E", "U": "S"}
_OUTSIDE, _ANY = "O", "X"


@dataclass(frozen=True, slots=True)
class Tag:
    """One label of a model: its place in a span (O, B, I, E, S, or X for a plain one) and the span's label."""

    place: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Biases:
    """What is added to a path's log-probability for a step of each kind; the names are those of the privacy filter.

    Raising `background_to_start` finds more, raising `background_stay` finds less.
    """

    background_stay: float = 0.0
    background_to_start: float = 0.0
    inside_to_continue: float = 0.0
    inside_to_end: float = 0.0
    end_to_background: float = 0.0
    end_to_start: float = 0.0

    @classmethod
    def read(cls, calibration: object, where: str) -> "Biases":
        """Take the default operating point of a `viterbi_calibration.json`.

        Raises:
            InputError: it has another form, or a bias is no finite number.
        """
        try:
            values = calibration["operating_points"]["default"]["biases"]  # type: ignore[index]
            return cls(**{field.name: _finite(values[f"transition_bias_{field.name}"]) for field in fields(cls)})
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{where} has no default operating point with six biases.") from None


@dataclass(frozen=True, slots=True)
class Decoder:
    """Viterbi over a model's tags.

    Args:
        tags: (L) the model's labels, in the order of its logits.
        steps: (L, L) added for a step from row to column; -inf where none is allowed.
        first, last: (L) 0 where a sequence may begin or end, -inf elsewhere.
    """

    tags: tuple[Tag, ...]
    steps: "NDArray[np.float64]"
    first: "NDArray[np.float64]"
    last: "NDArray[np.float64]"

    def decode(self, scores: "NDArray[np.float64]") -> list[int]:
        """The best valid sequence; of equals, the one with the lower tag numbers towards the end.

        Args:
            scores: (T, L) log-probabilities; T may be 0.
        """
        import numpy as np

        length = len(scores)
        if not length:
            return []
        back = np.zeros((length, len(self.tags)), dtype=np.int64)
        best = scores[0] + self.first
        for step in range(1, length):
            paths = best[:, None] + self.steps
            back[step] = paths.argmax(axis=0)
            best = paths.max(axis=0) + scores[step]
        path = [int((best + self.last).argmax())]
        for step in range(length - 1, 0, -1):
            path.append(int(back[step, path[-1]]))
        return path[::-1]

    def spans(self, path: Sequence[int]) -> list[tuple[int, int, str]]:
        """Spans of a valid path: first token, one past the last, label."""
        found: list[tuple[int, int, str]] = []
        previous = Tag(_OUTSIDE)
        for index, tag in enumerate(self.tags[number] for number in path):
            opens = tag.place in "BS" or (tag.place == _ANY and tag != previous)
            if tag.place != _OUTSIDE and opens:
                found.append((index, index + 1, tag.label))
            elif tag.place != _OUTSIDE:
                found[-1] = (found[-1][0], index + 1, tag.label)
            previous = tag
        return found


def read_tags(labels: Sequence[str]) -> tuple[Tag, ...]:
    """Read a model's labels.

    Raises:
        InputError: there is no `O`, or a place such as I, E or S has no B of the same label.
    """
    parted = [_part(label) for label in labels]
    if Tag(_OUTSIDE) not in parted:
        raise InputError("the model has no label O, so what it does not find can't be told; it is no such classifier.")
    if not any(tag.place in "BES" for tag in parted):
        return tuple(Tag(_ANY, tag.label) if tag.place == "I" else tag for tag in parted)
    begun = {tag.label for tag in parted if tag.place == "B"}
    if any(tag.place in "IE" and tag.label not in begun for tag in parted):
        raise InputError("the model has labels I-x or E-x without B-x; its scheme is unknown here.")
    return tuple(parted)


def decoder(labels: Sequence[str], biases: Biases | None = None) -> Decoder:
    """Build a decoder for a model's labels.

    Args:
        labels: in the order of the logits.
        biases: added by kind of step.

    Raises:
        InputError: see `read_tags`.
    """
    import numpy as np

    tags = read_tags(labels)
    biases = biases or Biases()
    ends = {tag.label for tag in tags if tag.place == "E"}
    steps = np.array([[_step(left, right, ends, biases) for right in tags] for left in tags])
    outside = Tag(_OUTSIDE)
    first = np.array([0.0 if tag == outside or _starts(tag) else -np.inf for tag in tags])
    last = np.array([0.0 if _closed(tag, ends) else -np.inf for tag in tags])
    return Decoder(tags, steps, first, last)


def _step(left: Tag, right: Tag, ends: set[str], biases: Biases) -> float:
    if right.place in "IE":
        inside = left.place in "BI" and left.label == right.label
        return (biases.inside_to_continue if right.place == "I" else biases.inside_to_end) if inside else -float("inf")
    if not _closed(left, ends):
        return -float("inf")
    if left.place == _OUTSIDE:
        return biases.background_stay if right.place == _OUTSIDE else biases.background_to_start
    return biases.end_to_background if right.place == _OUTSIDE else biases.end_to_start


def _starts(tag: Tag) -> bool:
    return tag.place in ("B", "S", _ANY)


def _closed(tag: Tag, ends: set[str]) -> bool:
    """Whether a span may be over behind this tag: always, unless its label has an E to say so."""
    return tag.place not in "BI" or tag.label not in ends


def _part(label: str) -> Tag:
    place, hyphen, name = label.partition("-")
    place = _OTHER_NAMES.get(place, place)
    if hyphen and name and place in ("B", "I", "E", "S"):
        return Tag(place, name)
    return Tag(_OUTSIDE) if label == _OUTSIDE else Tag(_ANY, label)


def _finite(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if number - number != 0:
        raise ValueError
    return number


def labels_of(id2label: Mapping[int, str]) -> tuple[str, ...]:
    """A model's labels in the order of its logits."""
    return tuple(id2label[index] for index in range(len(id2label)))
