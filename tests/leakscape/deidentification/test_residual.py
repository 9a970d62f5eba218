"""What is left, against hand counts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.deidentification.detector import Found, resolve
from leakscape.deidentification.residual import Residual, identifiers, lower, occurrences, share
from leakscape.deidentification.rules import RuleDetector
from leakscape.records.record import CorpusRecord, Record, instance

RECORD = Record(
    id="r1",
    name="Rosa Long",
    sex="female",
    birth_date="1956-03-12",
    ssn="999-80-9624",
    street="12 Elm Street",
    city="Salem",
    state="MA",
    zip="01970",
    problems=("Long QT syndrome",),
    medications=("Lisinopril 10 MG Oral Tablet",),
)
ROW = instance(RECORD)


def judged(row: CorpusRecord, *found: Found) -> dict[str, dict[str, dict[str, float]]]:
    residual = Residual()
    residual.add(row, resolve(row.text, found))
    return residual.summary()


def at(value: str, label: str = "X") -> Found:
    start = ROW.text.index(value)
    return Found(start, start + len(value), label)


def test_rules_mask_every_identifier_and_no_fact():
    summary = judged(ROW, *RuleDetector().detect([ROW.text])[0])
    types = {"name", "name_part", "birth_date", "ssn", "street", "city", "zip"}
    assert {kind: each["value"] for kind, each in summary["recall"].items()} == dict.fromkeys(types, 1.0)
    assert {kind: each["value"] for kind, each in summary["kept"].items()} == dict.fromkeys(
        ("problems", "medications", "sex", "state"), 1.0
    )
    assert summary["characters"]["precision"] == summary["characters"]["recall"] == 1.0


def test_a_name_that_is_also_a_word_of_a_problem_is_counted_as_ambiguous():
    summary = judged(ROW, at("Rosa Long"))
    assert summary["ambiguous"] == {"name_part": 1}
    assert summary["recall"]["name_part"] == share(1, 1)


def test_masking_nothing():
    summary = judged(ROW)
    assert {each["value"] for each in summary["recall"].values()} == {0.0}
    assert {each["value"] for each in summary["kept"].values()} == {1.0}
    assert "precision" not in summary["characters"]
    assert summary["characters"]["f1"] == 0


def test_masking_everything_does_not_win():
    """Report kubeedge/ianvs#834: a score of recall alone praised it."""
    everything = judged(ROW, Found(0, len(ROW.text), "X"))
    careful = judged(ROW, *RuleDetector().detect([ROW.text])[0])
    assert everything["characters"]["recall"] == careful["characters"]["recall"] == 1
    assert everything["characters"]["f1"] < careful["characters"]["f1"]
    assert {each["value"] for each in everything["kept"].values()} == {0.0}
    identifying = sum(map(str.isalnum, "Rosa Long 1956-03-12 999-80-9624 12 Elm Street Salem 01970"))
    letters = sum(map(str.isalnum, ROW.text))
    assert everything["characters"]["precision"] == pytest.approx(identifying / letters)


def test_half_a_number_masked_is_not_masked():
    assert judged(ROW, at("999-80"))["recall"]["ssn"]["value"] == 0
    assert judged(ROW, at("999"), at("80"), at("9624"))["recall"]["ssn"]["value"] == 1


def test_every_occurrence_counts():
    row = replace(ROW, text=ROW.text + "\nfrom SALEM")
    assert judged(row, at("Salem"))["recall"]["city"]["value"] == 0


def test_an_identifier_with_typographic_hyphens_is_still_there():
    """A rewriter's U+2011 must not make a number that anyone can read count as gone."""
    recall = judged(replace(ROW, text="number 999\u201180\u20119624, 12\u00a0Elm Street"))["recall"]
    assert {kind: (figures["value"], figures["n"]) for kind, figures in recall.items()} == {
        "ssn": (0, 1),
        "street": (0, 1),
    }


def test_an_identifier_that_is_not_in_the_text_is_not_known():
    summary = judged(replace(ROW, text="- Lisinopril 10 MG Oral Tablet"))
    assert summary["recall"] == {}
    assert summary["kept"]["medications"]["value"] == 1
    assert summary["kept"]["problems"] == {"n": 0}


def test_copies_of_a_canary_count_once():
    residual = Residual()
    for copy in range(3):
        residual.add(
            replace(ROW, id=f"canary-001/{copy}", person="canary-001"), resolve(ROW.text, [at("Salem", "CITY")])
        )
    summary = residual.summary()
    assert (summary["records"], summary["distinct_texts"], summary["recall"]["city"]["n"]) == (3, 1, 1)
    assert summary["spans_by_label"] == {"CITY": 3}


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 20, 0.0, 0.168), (0, 100, 0.0, 0.036), (86, 100, 0.776, 0.921), (20, 20, 1 - 0.168, 1.0)],
)
def test_exact_intervals(part: int, whole: int, low: float, high: float):
    """Clopper-Pearson bounds as statistics tables give them; 0 of n is at most 1 - 0.025 ** (1/n)."""
    interval = share(part, whole)
    assert (interval["low"], interval["high"]) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))


def test_no_count_no_figure():
    assert share(0, 0) == {"n": 0}


def test_words_of_names():
    assert list(identifiers(replace(RECORD, birth_date="", ssn="", street="", city="", zip=""))) == [
        ("name", "Rosa Long"),
        ("name_part", "Rosa"),
        ("name_part", "Long"),
    ]


@given(st.text(max_size=20))
def test_lower_case_keeps_offsets(text: str):
    assert len(lower(text)) == len(text)


def test_names_inside_words_are_no_occurrences():
    assert list(occurrences(lower("Li, Linda; İLI LI"), "Li")) == [(0, 2), (15, 17)]
