import hashlib

import pytest

from leakscape.errors import InputError
from leakscape.judging import rubric
from leakscape.judging.judgement import REASONS, SCHEMA, read
from leakscape.judging.pairs import Pair
from leakscape.records.record import CorpusRecord, Record


def test_a_judge_reads_the_rubric_the_source_and_the_rewrite_in_this_order() -> None:
    fields = Record(
        id="a", name="", sex="", birth_date="", ssn="", street="", city="", state="", zip="", problems=(),
        medications=("x",),
    )  # fmt: skip
    pair = Pair("a/r2", CorpusRecord(id="a", person="a", text="SOURCE", spans=(), fields=fields), "REWRITE")
    source = rubric.source_of(pair)
    assert source.id == "a/r2"
    text = rubric.stage().prompt(source.text)
    assert text.startswith(rubric.rubric())
    assert text.endswith("\n\nSource record:\nSOURCE\n\nRewritten record:\nREWRITE\n\nJudgement:")


def test_the_schema_is_asked_for_unless_told_otherwise() -> None:
    assert rubric.stage().schema == SCHEMA
    assert rubric.stage(structured=False).schema is None


def test_the_rubric_explains_every_reason_and_shows_an_answer_that_fits() -> None:
    lines = rubric.rubric().splitlines()
    assert [reason for reason in REASONS if any(line.startswith(f"{reason} - ") for line in lines)] == list(REASONS)
    assert read("{" + lines[-1].partition("{")[2]) is not None


def test_an_unknown_rubric_is_refused() -> None:
    with pytest.raises(InputError, match=r"no rubric nothing\.v9"):
        rubric.digest("nothing.v9")


# Versions are frozen: a change of wording needs a new file, or old judgements could not be told from new ones.
def test_published_rubrics_never_change() -> None:
    assert (
        hashlib.sha256(rubric.rubric("judge.v1").encode()).hexdigest()
        == "68424b2d48b2777566a4a14b3134d6ffbc89f326d36684a5ee7d85cbfc44c9cc"
    )
