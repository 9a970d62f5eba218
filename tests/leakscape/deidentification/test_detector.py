"""Findings to spans."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.deidentification.detector import Found, common_label, resolve
from leakscape.errors import IntegrityError


def spans(text: str, *found: Found) -> list[tuple[str, str]]:
    return [(text[each.start : each.end], each.label) for each in resolve(text, found)]


def test_adjacent_pieces_of_a_number_become_one():
    text = "call 442 222 47571 now"
    assert spans(text, Found(5, 16, "PHONE"), Found(16, 18, "PHONE")) == [("442 222 47571", "PHONE")]


def test_first_and_last_name_become_one_and_other_labels_stay_apart():
    text = "Ann O'Brien 1956-03-12"
    found = (Found(0, 3, "PERSON"), Found(4, 5, "PERSON"), Found(6, 11, "PERSON"), Found(12, 22, "DATE"))
    assert spans(text, *found) == [("Ann O'Brien", "PERSON"), ("1956-03-12", "DATE")]


def test_two_names_with_a_comma_and_a_space_between_stay_two():
    assert len(resolve("Ann, Bob", [Found(0, 3, "PERSON"), Found(5, 8, "PERSON")])) == 2


def test_overlaps_are_covered_whole_under_the_longest_label():
    text = "12 Elm Street, Salem"
    assert spans(text, Found(3, 13, "LOCATION"), Found(0, 7, "STREET")) == [("12 Elm Street", "LOCATION")]


def test_a_finding_ends_at_a_line_break():
    text = "Patient: Zoë Li \nSex: female"
    assert spans(text, Found(8, 20, "PERSON")) == [("Zoë Li", "PERSON"), ("Sex", "PERSON")]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (0, 4), (2, 1)])
def test_a_finding_outside_its_text_fails(start: int, end: int):
    with pytest.raises(IntegrityError, match="outside its text"):
        resolve("abc", [Found(start, end, "PERSON")])


@given(
    text=st.text("ab \n.é", max_size=25),
    found=st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25), st.sampled_from("XYZ")), max_size=6),
)
def test_nothing_found_is_left_uncovered_and_spans_are_disjoint(text: str, found: list[tuple[int, int, str]]):
    inside = [Found(min(a, b, len(text)), min(max(a, b), len(text)), label) for a, b, label in found]
    result = resolve(text, inside)
    covered = {index for each in result for index in range(each.start, each.end)}
    wanted = {index for each in inside for index in range(each.start, each.end) if not text[index].isspace()}
    assert wanted <= covered
    assert all(left.end <= right.start for left, right in pairwise(result))
    assert all("\n" not in text[each.start : each.end] and each.start < each.end for each in result)
    assert resolve(text, result) == result


@pytest.mark.parametrize(
    ("label", "common"), [("US_SSN", "SSN"), ("private_person", "PERSON"), ("DATE_TIME", "DATE"), ("city", "CITY")]
)
def test_labels_have_one_name(label: str, common: str):
    assert common_label(label) == common
