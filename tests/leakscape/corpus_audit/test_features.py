from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.corpus_audit.features import KINDS, RUN, Count, FeatureIndex
from leakscape.judging.phrases import words
from leakscape.records.record import Record

NOBODY = Record(
    id="x", name="", sex="", birth_date="", ssn="", street="", city="", state="", zip="", problems=(), medications=(),
)  # fmt: skip
ANN = replace(NOBODY, name="Ann Lee", birth_date="1984-03-05", city="Salem", problems=("Migraine (disorder)",))
BOB = replace(NOBODY, name="Bob Ray", birth_date="1990-01-02", city="Salem", problems=("Wilson disease (disorder)",))
EVE = replace(NOBODY, name="Eve Orr", birth_date="1990-01-02", city="Lynn", problems=("Migraine (disorder)",))


def index(train: list[Record], held_out: list[Record], *, rare_below: int = 2, run: int = 3) -> FeatureIndex:
    made = FeatureIndex(rare_below=rare_below, run=run)
    for side, people in ((False, train), (True, held_out)):
        for person in people:
            made.add(person, f"{person.name} lives in {person.city}", held_out=side)
    return made


def count(train: int = 0, train_hits: int = 0, held_out: int = 0, held_out_hits: int = 0) -> Count:
    return Count(train=train, train_hits=train_hits, held_out=held_out, held_out_hits=held_out_hits)


def test_only_what_one_person_carries_counts_and_sides_do_not_matter_for_that() -> None:
    counts = index([ANN, BOB], [EVE]).counts()
    assert counts["name"] == count(train=2, held_out=1)
    assert counts["birth_date"] == count(train=1)  # Bob and Eve share theirs
    assert counts["city"] == count(held_out=1)  # Ann and Bob share theirs
    assert counts["problems"] == count(train=1)  # Ann and Eve share theirs
    assert counts["ssn"] == count()


def test_more_people_may_carry_a_rare_value_where_one_says_so() -> None:
    made = index([ANN, BOB], [EVE], rare_below=3)
    made.look("with migraine, born January 2nd, 1990")
    counts = made.counts()
    assert counts["problems"] == count(train=2, train_hits=1, held_out=1, held_out_hits=1)
    assert counts["birth_date"] == count(train=2, train_hits=1, held_out=1, held_out_hits=1)


def test_hits_are_people_however_often_they_are_found() -> None:
    made = index([ANN, BOB], [EVE])
    for text in ("LEE, ANN", "Ann Lee again", "seen by Eve Orr in Lynn", "Salem", "Bob"):
        made.look(text)
    counts = made.counts()
    assert counts["name"] == count(train=2, train_hits=1, held_out=1, held_out_hits=1)
    assert counts["city"] == count(held_out=1, held_out_hits=1)


def test_runs_count_if_no_other_person_has_them() -> None:
    made = index([ANN, BOB], [EVE])
    # "lives in salem" belongs to two people; "ann lee lives" to one.
    made.look("who lives in Salem")
    assert made.counts()[RUN] == count(train=2, held_out=1)
    made.look("that Ann Lee lives here")
    made.look("she lives\n- in: Lynn")
    assert made.counts()[RUN] == count(train=2, train_hits=1, held_out=1, held_out_hits=1)


def test_a_person_who_repeats_herself_is_still_one() -> None:
    made = FeatureIndex(rare_below=2, run=2)
    made.add(ANN, "one two one two", held_out=False)
    made.look("one two")
    assert made.counts()[RUN] == count(train=1, train_hits=1)


@pytest.mark.parametrize("text", ["", " ", "\ufeff", "...", "Ann"])
def test_texts_without_a_feature_hit_nothing(text: str) -> None:
    made = index([ANN], [EVE])
    made.look(text)
    assert all(found.train_hits == found.held_out_hits == 0 for found in made.counts().values())


WORDS = st.lists(st.sampled_from(["a", "b", "c", "Ann", "5"]), max_size=12).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, max_size=4))
def test_runs_found_equal_those_of_a_plain_loop(people: list[str], corpus: list[str]) -> None:
    made = FeatureIndex(rare_below=2, run=3)
    for text in people:
        made.add(NOBODY, text, held_out=False)
    for text in corpus:
        made.look(text)

    def runs(text: str) -> set[tuple[str, ...]]:
        found = words(text)
        return {tuple(found[start : start + 3]) for start in range(len(found) - 2)}

    own = [
        runs(text) - {run for place, other in enumerate(people) if place != number for run in runs(other)}
        for number, text in enumerate(people)
    ]
    shown = {run for text in corpus for run in runs(text)}
    assert made.counts()[RUN] == count(train=sum(map(bool, own)), train_hits=sum(bool(one & shown) for one in own))


def test_every_type_is_counted() -> None:
    assert tuple(index([], []).counts()) == KINDS
