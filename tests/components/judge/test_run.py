"""The component from artifact to artifact, by rules and against a server that misbehaves on order."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import misbehaving_server
import pytest
from misbehaving_server import Client

from components.judge.contract import Judge
from components.judge.run import run
from leakscape import artifacts, schemas
from leakscape.errors import InputError, IntegrityError
from leakscape.judging.judgement import Judgement
from leakscape.records import builtin
from leakscape.records.record import CorpusRecord, instance, with_text

RECORDS = 12


def write(path: Path, rows: Iterable[CorpusRecord]) -> Path:
    with artifacts.create(path, schema=schemas.CORPUS, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", rows)
    return path


def originals() -> list[CorpusRecord]:
    people = builtin.generate(RECORDS, seed=3, stream="train", reference_date=dt.date(2026, 1, 1))
    return [instance(record) for record in people]


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    rows = originals()
    masked = [replace(with_text(row, "[MASKED]"), id=f"{row.id}/r1") for row in rows[1:]]
    rewritten = [replace(with_text(rows[0], rows[0].text), id=f"{rows[0].id}/r1"), *masked]
    return {"original": write(tmp_path / "original", rows), "corpus": write(tmp_path / "rewritten", rewritten)}


@pytest.fixture(scope="module")
def server() -> Iterator[Client]:
    with misbehaving_server.running() as client:
        yield client


def judge(inputs: dict[str, Path], out: Path, **params: object) -> Judge:
    contract = Judge(**inputs, judgements=out, **params)  # type: ignore[arg-type]
    run(contract)
    return contract


def served(server: Client, **params: object) -> dict[str, object]:
    return {"backend": "openai", "model": "toy", "base_url": server.base_url, "retries": 2, "timeout": 5.0, **params}


def judgements(contract: Judge) -> list[Judgement]:
    found = artifacts.load(contract.judgements, schema=schemas.JUDGEMENTS)
    return list(found.rows("judgements.jsonl", Judgement))


def summary(contract: Judge) -> dict[str, object]:
    found: dict[str, object] = artifacts.load(contract.judgements, schema=schemas.JUDGEMENTS).json("summary.json")
    return found


def test_rules_judge_every_record_twice_alike(inputs: dict[str, Path], tmp_path: Path) -> None:
    one = judge(inputs, tmp_path / "one", backend="rules", rare_below=1)
    two = judge(inputs, tmp_path / "two", backend="rules", rare_below=1)
    assert artifacts.read_manifest(one.judgements).digest == artifacts.read_manifest(two.judgements).digest
    found = judgements(one)
    assert [(row.id, row.person) for row in found] == [(f"{row.id}/r1", row.person) for row in originals()]
    # The first text is its source, the others hold nothing; below one person no value is rare.
    assert [row.privacy for row in found] == [1.0] + [5.0] * (RECORDS - 1)
    assert [row.quality for row in found] == [5.0] + [1.0] * (RECORDS - 1)
    told = summary(one)
    assert told["corpus"] == artifacts.read_manifest(inputs["corpus"]).digest
    assert told["privacy"] == {"n": RECORDS, "unscored": 0, "mean": (1 + 5 * (RECORDS - 1)) / RECORDS}
    assert (told["model"], told["judged"], told["records"]) == ("rules/1", RECORDS, RECORDS)
    assert artifacts.read_manifest(one.judgements).details["corpus"] == told["corpus"]


def test_bad_answers_are_asked_again_and_counted(inputs: dict[str, Path], tmp_path: Path, server: Client) -> None:
    server.order("429", "prose", "truncated", "empty", "not json", "refusal")
    made = judge(inputs, tmp_path / "out", **served(server))
    assert len(judgements(made)) == RECORDS
    told = summary(made)
    assert told["answers"] == {
        "accepted": RECORDS,
        "empty": 1,
        "failed": 1,
        "invalid": 1,
        "refused": 1,
        "truncated": 1,
    }
    assert told["quarantined"] == {}
    assert all("response_format" in request for request in server.requests())
    assert {row.reason for row in judgements(made)} == {"combination"}


def test_too_many_in_quarantine_fail_the_step(inputs: dict[str, Path], tmp_path: Path, server: Client) -> None:
    server.order(*["prose"] * RECORDS)
    with pytest.raises(
        InputError, match=r"100\.0% of the judgements had to be quarantined \(12 invalid\).*--structured"
    ):
        judge(inputs, tmp_path / "out", **served(server, attempts=1))
    assert not (tmp_path / "out").exists()


def test_few_in_quarantine_are_left_out_and_named(inputs: dict[str, Path], tmp_path: Path, server: Client) -> None:
    server.order("prose")
    made = judge(inputs, tmp_path / "out", **served(server, attempts=1, max_quarantined=0.1, concurrency=1))
    assert len(judgements(made)) == RECORDS - 1
    assert summary(made)["quarantined"] == {"train-000001/r1": "invalid"}


def test_a_second_run_asks_only_for_what_is_missing(inputs: dict[str, Path], tmp_path: Path, server: Client) -> None:
    server.order()
    kept = {"ledger_dir": str(tmp_path / "kept"), "structured": False}
    judge(inputs, tmp_path / "few", **served(server, sample=4, **kept))
    assert len(server.requests()) == 4
    assert not any("response_format" in request for request in server.requests())
    whole = judge(inputs, tmp_path / "all", **served(server, **kept))
    assert len(server.requests()) == RECORDS
    fresh = judge(inputs, tmp_path / "fresh", **served(server, structured=False))
    assert judgements(fresh) == judgements(whole)


def test_a_sample_is_judged_as_the_whole_is(inputs: dict[str, Path], tmp_path: Path) -> None:
    whole = judge(inputs, tmp_path / "whole", backend="rules")
    few = judge(inputs, tmp_path / "few", backend="rules", sample=5)
    assert len(judgements(few)) == 5
    assert set(judgements(few)) <= set(judgements(whole))
    assert summary(few)["records"] == RECORDS


def test_no_text_of_a_record_is_kept(inputs: dict[str, Path], tmp_path: Path, server: Client) -> None:
    server.order()
    made = [judge(inputs, tmp_path / "a", **served(server)), judge(inputs, tmp_path / "b", backend="rules")]
    kept = "".join(file.read_text(encoding="utf-8") for one in made for file in one.judgements.iterdir())
    assert not any(row.fields.name in kept or row.fields.ssn in kept for row in originals())


def test_corpora_that_do_not_belong_together_are_refused(inputs: dict[str, Path], tmp_path: Path) -> None:
    turned = {"original": inputs["corpus"], "corpus": inputs["original"]}
    with pytest.raises(IntegrityError, match="has no source, or not in its place"):
        judge(turned, tmp_path / "out", backend="rules")


def test_an_empty_corpus_is_refused(inputs: dict[str, Path], tmp_path: Path) -> None:
    empty = write(tmp_path / "empty", [])
    with pytest.raises(InputError, match="holds no record to judge"):
        judge(inputs | {"corpus": empty}, tmp_path / "out", backend="rules")


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"backend": "openai"}, "--model must be given for --backend openai"),
        ({"backend": "transformers", "model": "x", "temperature": -1.0}, "this backend needs 0 or more"),
        ({"backend": "rules", "rubric": "mine"}, "there is no rubric mine"),
    ],
)
def test_wrong_settings_are_named(
    inputs: dict[str, Path], tmp_path: Path, params: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        judge(inputs, tmp_path / "out", **params)
