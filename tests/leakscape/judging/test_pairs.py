from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import IntegrityError
from leakscape.judging.pairs import draw, pairs
from leakscape.records.record import CorpusRecord, Record

FIELDS = Record(
    id="x", name="", sex="", birth_date="", ssn="", street="", city="", state="", zip="", problems=(),
    medications=("x",),
)  # fmt: skip


def row(name: str, person: str = "", text: str = "") -> CorpusRecord:
    return CorpusRecord(id=name, person=person or name.partition("/")[0], text=text or name, spans=(), fields=FIELDS)


def joined(original: list[str], corpus: list[str]) -> list[tuple[str, str]]:
    found = pairs(map(row, original), map(row, corpus))
    return [(pair.id, pair.source.id) for pair in found]


def test_copies_and_chains_of_copies_find_their_source() -> None:
    made = ["a/r1", "a/r2", "canary-001/1/r1", "canary-001/1/r1/r2", "canary-001/10"]
    assert joined(["a", "b", "canary-001/1", "canary-001/10"], made) == [
        ("a/r1", "a"),
        ("a/r2", "a"),
        ("canary-001/1/r1", "canary-001/1"),
        ("canary-001/1/r1/r2", "canary-001/1"),
        ("canary-001/10", "canary-001/10"),
    ]


@pytest.mark.parametrize(
    ("original", "corpus"),
    [
        (["a"], ["b"]),
        (["a", "b"], ["b", "a"]),  # another order
        ([], ["a"]),
        (["train-1"], ["train-10"]),  # a longer id is no copy
        (["train-1"], ["train-1/x1"]),
    ],
)
def test_a_record_without_its_source_stops_the_join(original: list[str], corpus: list[str]) -> None:
    with pytest.raises(IntegrityError, match="has no source, or not in its place"):
        joined(original, corpus)


def test_a_record_that_comes_twice_or_changed_hands_stops_the_join() -> None:
    with pytest.raises(IntegrityError, match="stands twice"):
        joined(["a"], ["a", "a"])
    with pytest.raises(IntegrityError, match="another person"):
        list(pairs([row("a", "one")], [row("a", "two")]))


@given(st.lists(st.integers(0, 3), max_size=30))
def test_every_record_gets_its_source_whatever_was_left_out(copies: list[int]) -> None:
    original = [f"train-{number}" for number in range(len(copies))]
    corpus = [f"{name}/r{copy}" for name, many in zip(original, copies, strict=True) for copy in range(many)]
    assert Counter(source for _, source in joined(original, corpus)) == Counter(
        {name: many for name, many in zip(original, copies, strict=True) if many}
    )


def test_a_draw_depends_on_each_id_alone() -> None:
    ids = [f"train-{number:04d}" for number in range(1000)]
    drawn = draw(ids, 100, seed=1)
    assert len(drawn) == 100
    assert draw(reversed(ids), 100, seed=1) == drawn
    # Records that another condition lost change nothing about the others.
    fewer = [name for name in ids if name not in sorted(drawn)[:5]]
    assert drawn - set(sorted(drawn)[:5]) <= draw(fewer, 100, seed=1)
    assert draw(ids, 100, seed=2) != drawn
    assert draw(ids, 2000, seed=1) == frozenset(ids)
