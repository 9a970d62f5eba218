from collections.abc import Iterator

import pytest

from leakscape.errors import IntegrityError
from leakscape.records.record import CorpusRecord, Record, instance
from leakscape.rewriting.corpus import rewritten, sources
from leakscape.rewriting.job import Result


def corpus() -> Iterator[CorpusRecord]:
    for name in ("train-1", "train-2"):
        yield instance(
            Record(
                id=name, name="A", sex="", birth_date="", ssn="", street="", city="", state="", zip="", problems=(),
                medications=(f"drug {name}",),
            )
        )  # fmt: skip


def result_of(copies: int) -> Result:
    return Result(texts={source.id: f"new {source.id}" for source in sources(corpus(), copies=copies)})


def test_one_rewrite_keeps_the_id() -> None:
    made = list(rewritten(corpus(), result_of(1), copies=1))
    assert [(record.id, record.text, record.person) for record in made] == [
        ("train-1", "new train-1", "train-1"),
        ("train-2", "new train-2", "train-2"),
    ]
    assert all(record.spans == () for record in made)
    assert [record.fields for record in made] == [record.fields for record in corpus()]


def test_several_rewrites_stay_with_their_person() -> None:
    made = list(rewritten(corpus(), result_of(3), copies=3))
    assert [record.id for record in made] == [f"train-{who}/r{copy}" for who in (1, 2) for copy in (1, 2, 3)]
    assert {record.person for record in made} == {"train-1", "train-2"}


def test_a_quarantined_record_is_left_out() -> None:
    result = Result(texts={"train-1": "new"}, quarantined={"train-2": "refused"})
    assert [record.id for record in rewritten(corpus(), result, copies=1)] == ["train-1"]


def test_a_lost_and_a_foreign_record_stop_the_step() -> None:
    with pytest.raises(IntegrityError, match="record train-2 was lost"):
        list(rewritten(corpus(), Result(texts={"train-1": "new"}), copies=1))
    foreign = result_of(1)
    foreign.texts["train-9"] = "new"
    with pytest.raises(IntegrityError, match="1 rewrites belong to no record"):
        list(rewritten(corpus(), foreign, copies=1))
