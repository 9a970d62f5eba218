from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import RecordError
from leakscape.records.record import LABELS, LISTS, Record, Span, instance, parse, render, with_text

TEXT = """\
Patient: María O'Brien
Sex: female
Date of birth: 1956-03-12
SSN: 912-45-6789
Street: 12 Elm Street
City: Salem
State: MA
ZIP: 01970
Active problems:
- Essential hypertension (disorder)
- Obesity (disorder)
Current medications:
- lisinopril 10 MG Oral Tablet"""

RECORD = Record(
    id="train-000001",
    name="María O'Brien",
    sex="female",
    birth_date="1956-03-12",
    ssn="912-45-6789",
    street="12 Elm Street",
    city="Salem",
    state="MA",
    zip="01970",
    problems=("Essential hypertension (disorder)", "Obesity (disorder)"),
    medications=("lisinopril 10 MG Oral Tablet",),
)

# Everything but what str.splitlines breaks at, NUL and surrogates; labels and list marks are tried on purpose.
characters = st.characters(
    exclude_categories=("Cs",), exclude_characters="\x00\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
)
tricky = st.sampled_from(
    ["- ", "Active problems:", "Current medications:", "Patient: x", ": ", "-", "SSN:", "<script>"]
)
values = (st.text(characters, min_size=1, max_size=20) | tricky).filter(lambda value: value == value.strip() != "")
records = st.builds(
    Record,
    id=st.just("x-1"),
    **{field: st.just("") | values for field in LABELS},
    problems=st.lists(values, max_size=4).map(tuple),
    medications=st.lists(values, min_size=1, max_size=4).map(tuple),
)


def changed(**fields: object) -> Record:
    # dataclasses.replace with a name that a keyword can't be misspelt in.
    return Record(**({name: getattr(RECORD, name) for name in Record.__dataclass_fields__} | fields))  # type: ignore[arg-type]


def test_a_record_is_rendered_as_the_module_says():
    assert render(RECORD)[0] == TEXT


def test_offsets_count_code_points_of_the_text():
    # "Patient: " is 9 long and "María O'Brien" 13; the text ends with its last medication.
    spans = render(RECORD)[1]
    assert spans[0] == Span(9, 22, "name")
    assert spans[-1] == Span(len(TEXT) - len("lisinopril 10 MG Oral Tablet"), len(TEXT), "medications")


@given(records)
def test_parsing_undoes_rendering(record: Record):
    text, _ = render(record)
    assert parse(text, record_id=record.id) == record


@given(records)
def test_each_span_holds_its_value_in_the_order_of_the_text(record: Record):
    text, spans = render(record)
    expected = [(field, getattr(record, field)) for field in LABELS if getattr(record, field)]
    expected += [(field, value) for field in LISTS for value in getattr(record, field)]
    assert [(span.field, text[span.start : span.end]) for span in spans] == expected
    assert spans[-1].end == len(text)
    assert all(before.end < after.start for before, after in pairwise(spans))


@given(st.text(max_size=60) | st.lists(st.sampled_from(TEXT.split("\n")), max_size=8).map("\n".join))
def test_a_text_is_refused_or_is_exactly_what_rendering_gives(text: str):
    try:
        record = parse(text)
    except RecordError:
        return
    assert render(record)[0] == text


@pytest.mark.parametrize("field", [*LABELS, *LISTS])
@pytest.mark.parametrize("value", ["a\nb", "a\r", "\u2028a", " aq", "a\t", "a\x00b", "\ud800", "\u00a0a"])
def test_a_value_that_would_not_come_back_is_refused_without_being_shown(field: str, value: str):
    record = changed(**{field: (value,) if field in LISTS else value})
    with pytest.raises(RecordError, match=f"record train-000001: {field} ") as raised:
        render(record)
    assert value not in str(raised.value)


@pytest.mark.parametrize("field", LISTS)
def test_an_empty_entry_of_a_list_is_refused(field: str):
    with pytest.raises(RecordError, match=f"{field} is empty"):
        render(changed(**{field: ("",)}))


def test_a_record_without_medication_is_refused():
    with pytest.raises(RecordError, match="record train-000001 has no medication"):
        render(changed(medications=()))


def test_empty_identifiers_are_left_out():
    text, spans = render(changed(ssn="", problems=()))
    assert "SSN" not in text
    assert {span.field for span in spans}.isdisjoint({"ssn", "problems"})
    assert parse(text, record_id="train-000001") == changed(ssn="", problems=())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("\ufeff" + TEXT, 1),
        (TEXT.replace("Sex: female", "Sex; female"), 2),
        (TEXT.replace("Sex: female", "Patient: female"), 2),
        (TEXT.replace("Sex: female\nDate of birth: 1956-03-12", "Date of birth: 1956-03-12\nSex: female"), 2),
        (TEXT.replace("Sex: female", "Sex: "), 2),
        (TEXT.replace("- Obesity (disorder)", "Obesity (disorder)"), 11),
        (TEXT.replace("Active problems:\n", ""), 9),
        (TEXT + "\n", 14),
        (TEXT + "\nState: MA", 14),
        (TEXT + "\nActive problems:\n- Obesity (disorder)", 12),
    ],
)
def test_a_text_of_another_form_is_refused_with_its_line(text: str, line: int):
    with pytest.raises(RecordError, match=rf"record r-7: line {line} is not"):
        parse(text, record_id="r-7")


def test_windows_line_ends_are_refused():
    with pytest.raises(RecordError, match="record r-7"):
        parse(TEXT.replace("\n", "\r\n"), record_id="r-7")


@pytest.mark.parametrize("cut", [TEXT.index("\n- lisinopril"), TEXT.index("\nCurrent")])
def test_a_text_cut_before_its_medication_is_refused(cut: int):
    with pytest.raises(RecordError, match="no medication; it may be cut off"):
        parse(TEXT[:cut], record_id="r-7")


def test_an_instance_keeps_the_person_and_the_fields():
    untouched = instance(RECORD)
    assert (untouched.id, untouched.person, untouched.text) == ("train-000001", "train-000001", TEXT)
    assert untouched.fields == RECORD
    copy = instance(RECORD, instance_id="canary-007/3", person="canary-007")
    assert (copy.id, copy.person) == ("canary-007/3", "canary-007")


def test_a_changed_text_has_no_spans_but_its_original_fields():
    rewritten = with_text(instance(RECORD), "Someone takes something.")
    assert (rewritten.text, rewritten.spans, rewritten.fields) == ("Someone takes something.", (), RECORD)
