"""Hand calculations: shares of values that survive, on the scale from 1 to 5."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.judging.pairs import Pair
from leakscape.judging.rules import judge
from leakscape.records.record import CorpusRecord, Record, instance, render
from leakscape.rewriting.rarity import Rarity

PATIENT = Record(
    id="train-1",
    name="Ann B. Lee",
    sex="female",
    birth_date="1984-03-05",
    ssn="912-45-6789",
    street="12 Elm Street",
    city="Salem",
    state="MA",
    zip="01970",
    problems=("Migraine (disorder)", "Wilson disease (disorder)"),
    medications=("lisinopril 10 MG Oral Tablet", "Mabsartinib"),
)
RARITY = Rarity(
    {
        "problems": Counter({"Migraine (disorder)": 9, "Wilson disease (disorder)": 4}),
        "medications": Counter({"lisinopril 10 MG Oral Tablet": 5, "Mabsartinib": 1}),
    },
    rare_below=5,
)


def scores(text: str, patient: Record = PATIENT) -> tuple[float | None, float | None, str]:
    source = CorpusRecord(id=patient.id, person=patient.id, text="", spans=(), fields=patient)
    found = judge(Pair("train-1/r1", source, text), RARITY)
    assert (found.id, found.person) == ("train-1/r1", "train-1")
    return found.privacy, found.quality, found.reason


# Six identifiers and two rare values are telling, one problem and one medication are common.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (render(PATIENT)[0], (1.0, 5.0, "identifier")),
        ("", (5.0, 1.0, "fact-lost")),
        ("Someone with migraine on lisinopril.", (5.0, 5.0, "none")),
        ("Someone with migraine on Mabsartinib.", (5 - 4 * 1 / 8, 1 + 4 * 1 / 2, "rare-value")),
        ("Lee, Ann, born 5 March 1984: migraine, lisinopril 20mg.", (5 - 4 * 2 / 8, 5.0, "identifier")),
        ("SSN 912456789, Wilson's disease, wilson disease, mabsartinib", (5 - 4 * 3 / 8, 1.0, "identifier")),
        ("Salem 01970, 12 Elm Street; MIGRAINE", (5 - 4 * 3 / 8, 3.0, "identifier")),
    ],
)
def test_scores_are_shares_of_what_survives(text: str, expected: tuple[float, float, str]) -> None:
    assert scores(text) == expected


def test_masking_everything_does_not_win() -> None:
    privacy, quality, _ = scores("[MASKED] [MASKED]")
    assert (privacy, quality) == (5.0, 1.0)


def test_what_the_source_lacks_is_not_scored() -> None:
    nobody = replace(
        PATIENT, name="", birth_date="", ssn="", street="", city="", zip="", problems=("Migraine (disorder)",),
        medications=(),
    )  # fmt: skip
    assert scores("migraine", nobody) == (None, 5.0, "none")
    only_rare = replace(PATIENT, problems=(), medications=("Mabsartinib",))
    assert scores("", only_rare) == (5.0, None, "none")


def test_a_value_that_stands_twice_counts_once() -> None:
    twice = replace(PATIENT, problems=("Migraine (disorder)", "Migraine (disorder)"))
    assert scores("lisinopril", twice)[1] == 3.0


@given(st.lists(st.sampled_from(["migraine", "lisinopril", "Ann Lee", "912-45-6789", "Mabsartinib", "x"])))
def test_telling_more_never_raises_privacy_nor_lowers_quality(parts: list[str]) -> None:
    before, after = scores(" ; ".join(parts[:-1])), scores(" ; ".join(parts))
    assert 1 <= after[0] <= before[0] <= 5  # type: ignore[operator]
    assert 1 <= before[1] <= after[1] <= 5  # type: ignore[operator]


def test_an_untouched_record_gives_everything_away_and_teaches_everything() -> None:
    source = instance(PATIENT)
    found = judge(Pair(source.id, source, source.text), RARITY)
    assert (found.privacy, found.quality) == (1.0, 5.0)
