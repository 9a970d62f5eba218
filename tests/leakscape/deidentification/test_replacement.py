"""Replacement and its map of offsets."""

from hypothesis import given
from hypothesis import strategies as st

from leakscape.deidentification.detector import Found, resolve
from leakscape.deidentification.replacement import Numbered, replace_spans, typed


def test_typed():
    assert replace_spans("Ann, 12", [Found(0, 3, "PERSON"), Found(5, 7, "AGE")], typed).text == "[PERSON], [AGE]"


def test_numbers_follow_values_within_a_record():
    fill = Numbered()
    values = [("PERSON", "Ann Li"), ("PERSON", "Bob"), ("PERSON", "ANN  LI"), ("CITY", "Bob")]
    assert [fill(*each) for each in values] == ["[PERSON_1]", "[PERSON_2]", "[PERSON_1]", "[CITY_1]"]


@given(
    text=st.text("ab é𝒳", max_size=20),
    found=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=4),
    fills=st.text("[]x", max_size=6),
)
def test_what_is_outside_the_spans_stays_and_offsets_lead_back(text: str, found: list[tuple[int, int]], fills: str):
    inside = [Found(min(a, b, len(text)), min(max(a, b), len(text)), "X") for a, b in found]
    spans = resolve(text, inside)
    replaced = replace_spans(text, spans, lambda _label, _value: fills)
    new = list(replaced.text)
    for edit in replaced.edits:
        assert replaced.text[edit.new_start : edit.new_end] == fills
        for index in range(edit.new_start, edit.new_end):
            assert replaced.original_offset(index) == edit.start
            new[index] = ""
    kept = [index for index, character in enumerate(new) if character]
    assert all(text[replaced.original_offset(index)] == replaced.text[index] for index in kept)
    assert len(kept) == len(text) - sum(span.end - span.start for span in spans)


def test_values_that_look_like_patterns_or_html_are_plain_text():
    assert replace_spans(r"\1 <b>", [Found(0, 2, "X")], lambda _label, _value: r"\g<0>").text == r"\g<0> <b>"
