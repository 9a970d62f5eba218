"""The two passes, with detectors that misbehave."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from leakscape.deidentification.detector import Found
from leakscape.deidentification.replacement import typed
from leakscape.deidentification.residual import Residual
from leakscape.deidentification.scrub import Mask, Masked, mask, scrubbed
from leakscape.errors import IntegrityError
from leakscape.records.record import CorpusRecord, Record, instance

RECORD = Record(
    id="r",
    name="A B",
    sex="male",
    birth_date="",
    ssn="",
    street="",
    city="",
    state="",
    zip="",
    problems=(),
    medications=("X",),
)
ROWS = [replace(instance(RECORD), id=f"r{number}") for number in range(5)]


class Fixed:
    """Finds the same everywhere and remembers the sizes of its batches."""

    def __init__(self, *found: Found, lost: int = 0) -> None:
        self.found, self.lost, self.sizes = list(found), lost, list[int]()

    def detect(self, texts: Sequence[str]) -> list[list[Found]]:
        self.sizes.append(len(texts))
        return [self.found for _ in texts[self.lost :]]


def masks(detector: Fixed, rows: list[CorpusRecord] = ROWS, threshold: float = 0.0) -> list[Masked]:
    return list(mask(rows, detector, Residual(), batch_size=2, threshold=threshold))


def test_batches_keep_every_record_in_order():
    detector = Fixed(Found(9, 12, "private_person"))
    assert masks(detector) == [Masked(row.id, (Mask(9, 12, "PERSON"),)) for row in ROWS]
    assert detector.sizes == [2, 2, 1]


def test_the_threshold_is_the_lowest_score_that_counts():
    detector = Fixed(Found(9, 10, "PERSON", 0.4), Found(11, 12, "CITY", 0.3))
    assert masks(detector, threshold=0.4)[0].spans == (Mask(9, 10, "PERSON"),)


def test_a_detector_that_loses_a_text_fails():
    with pytest.raises(IntegrityError, match="answered 1 of 2 texts"):
        masks(Fixed(lost=1))


@pytest.mark.parametrize("change", [lambda each: each[:-1], lambda each: each[::-1], lambda each: [*each, each[0]]])
def test_masks_of_other_records_fail(change):  # noqa: ANN001
    own = [Masked(row.id, ()) for row in ROWS]
    with pytest.raises(IntegrityError, match="masks"):
        list(scrubbed(ROWS, change(own), lambda _row: typed))
