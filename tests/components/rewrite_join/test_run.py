"""Rewriting in parts gives, byte for byte, what one step gives."""

import datetime as dt
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import misbehaving_server
import pytest
from misbehaving_server import Client

from components.rewrite_join.contract import RewriteJoin
from components.rewrite_join.run import run as join
from components.vllm_rewrite.contract import VllmRewrite
from components.vllm_rewrite.run import run as rewrite
from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError, InputError, IntegrityError
from leakscape.records import builtin
from leakscape.records.record import CorpusRecord, Record, instance

RECORDS = 10


def records(stream: str, count: int) -> list[Record]:
    return list(builtin.generate(count, seed=3, stream=stream, reference_date=dt.date(2026, 1, 1)))


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    return write_inputs(tmp_path)


def write_inputs(folder: Path) -> dict[str, Path]:
    paths = {"corpus": folder / "corpus", "exemplars": folder / "exemplars"}
    with artifacts.create(paths["corpus"], schema=schemas.CORPUS, provenance=artifacts.Provenance()) as made:
        made.write_rows("records.jsonl", (instance(record) for record in records("train", RECORDS)))
    with artifacts.create(paths["exemplars"], schema=schemas.POPULATION, provenance=artifacts.Provenance()) as made:
        made.write_rows("records.jsonl", records("exemplars", 2))
    return paths


@pytest.fixture(scope="module")
def server() -> Iterator[Client]:
    with misbehaving_server.running() as client:
        yield client


def whole(inputs: dict[str, Path], out: Path, **params: object) -> VllmRewrite:
    made = VllmRewrite(**inputs, rewritten=out / "rewritten", ledger=out / "ledger", **params)  # type: ignore[arg-type]
    rewrite(made)
    return made


def in_parts(inputs: dict[str, Path], out: Path, shards: int, **params: object) -> list[VllmRewrite]:
    return [whole(inputs, out / str(shard), shards=shards, shard=shard, **params) for shard in range(1, shards + 1)]


def joined(inputs: dict[str, Path], parts: list[VllmRewrite], out: Path, **params: object) -> RewriteJoin:
    made = RewriteJoin(
        corpus=inputs["corpus"],
        parts=tuple(part.rewritten for part in parts),
        ledgers=tuple(part.ledger for part in parts),
        rewritten=out / "rewritten",
        ledger=out / "ledger",
        **{"shards": len(parts), **params},  # type: ignore[arg-type]
    )
    join(made)
    return made


def payload(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != artifacts.MANIFEST}


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 13])  # 13: more parts than records
@pytest.mark.parametrize(("strategy", "copies"), [("rewrite", 1), ("privacy-aware", 2)])
def test_parts_join_to_what_one_step_makes(
    inputs: dict[str, Path], tmp_path: Path, shards: int, strategy: str, copies: int
):
    params: dict[str, object] = {"backend": "rules", "strategy": strategy, "copies": copies, "rare_below": 3}
    one = whole(inputs, tmp_path / "one", **params)
    many = joined(inputs, in_parts(inputs, tmp_path / "parts", shards, **params), tmp_path / "all", copies=copies)
    assert payload(many.rewritten) == payload(one.rewritten)
    assert payload(many.ledger) == payload(one.ledger)


def test_stages_and_attempts_keep_the_order_of_one_step(inputs: dict[str, Path], tmp_path: Path, server: Client):
    params = {"backend": "openai", "model": "toy", "base_url": server.base_url, "concurrency": 1, "attempts": 2}
    params |= {"strategy": "summarise-expand", "price_in": 1.0, "price_out": 3.0}
    # A refusal at the first call: the second attempt for that record comes after every record's first.
    server.order("refusal")
    one = whole(inputs, tmp_path / "one", **params)
    server.order("refusal")
    many = joined(inputs, in_parts(inputs, tmp_path / "parts", 3, **params), tmp_path / "all")
    assert payload(many.ledger) == payload(one.ledger)
    assert payload(many.rewritten) == payload(one.rewritten)
    assert json.loads((many.ledger / "summary.json").read_text())["answers"] == {"accepted": 20, "refused": 1}


def test_the_ledger_is_matched_to_the_corpus_that_it_made(inputs: dict[str, Path], tmp_path: Path):
    made = joined(inputs, in_parts(inputs, tmp_path / "parts", 2, backend="rules"), tmp_path / "all")
    ledger, corpus = artifacts.read_manifest(made.ledger), artifacts.read_manifest(made.rewritten)
    assert ledger.details["corpus"] == corpus.digest
    assert ledger.inputs["corpus"] == artifacts.read_manifest(inputs["corpus"]).digest
    assert ledger.details["strategy"] == "rewrite"
    assert ledger.details["rewriting"]["backend"] == "rules"


def test_a_lost_part_fails(inputs: dict[str, Path], tmp_path: Path):
    parts = in_parts(inputs, tmp_path / "parts", 3, backend="rules")
    with pytest.raises(ArtifactError, match="3 parts and as many ledgers are wanted, not 2 and 2"):
        joined(inputs, parts[:2], tmp_path / "all", shards=3)


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 0, 2)])
def test_parts_out_of_order_or_twice_are_refused(inputs: dict[str, Path], tmp_path: Path, order: tuple[int, ...]):
    parts = in_parts(inputs, tmp_path / "parts", 3, backend="rules")
    if order == (0, 0, 2):  # two folders with the same part
        shutil.copytree(parts[0].rewritten.parent, tmp_path / "again")
        again = tmp_path / "again"
        second = VllmRewrite(
            **inputs, rewritten=again / "rewritten", ledger=again / "ledger", backend="rules", shards=3, shard=1
        )
        chosen = [parts[0], second, parts[2]]
    else:
        chosen = [parts[index] for index in order]
    with pytest.raises(ArtifactError, match=r"is not part \d of 3; give the parts in order"):
        joined(inputs, chosen, tmp_path / "all")


def test_parts_of_another_corpus_or_of_other_settings_are_refused(inputs: dict[str, Path], tmp_path: Path):
    one, two = in_parts(inputs, tmp_path / "parts", 2, backend="rules")
    with artifacts.create(tmp_path / "other", schema=schemas.CORPUS, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", (instance(record) for record in records("train", RECORDS + 1)))
    with pytest.raises(ArtifactError, match="was not made from"):
        joined({"corpus": tmp_path / "other"}, [one, two], tmp_path / "all")
    other = whole(inputs, tmp_path / "seed", backend="rules", seed=1, shards=2, shard=2)
    with pytest.raises(ArtifactError, match="was made with other settings"):
        joined(inputs, [one, other], tmp_path / "all")


def test_a_record_lost_inside_a_part_fails(inputs: dict[str, Path], tmp_path: Path):
    one, two = in_parts(inputs, tmp_path / "parts", 2, backend="rules")
    short = tmp_path / "short"
    rows = list(artifacts.load(two.rewritten, schema=schemas.CORPUS).rows("records.jsonl", CorpusRecord))
    manifest = artifacts.read_manifest(two.rewritten)
    made = artifacts.Provenance(
        arguments=manifest.arguments, inputs=manifest.inputs, versions=manifest.versions, details=manifest.details
    )
    with artifacts.create(short / "rewritten", schema=schemas.CORPUS, provenance=made) as folder:
        folder.write_rows("records.jsonl", rows[:-1])
    ledger = artifacts.load(two.ledger, schema=schemas.LEDGER)
    digest = artifacts.read_manifest(short / "rewritten").digest
    with artifacts.create(short / "ledger", schema=schemas.LEDGER, provenance=made) as folder:
        folder.details = {**ledger.manifest.details, "corpus": digest}
        folder.write_rows("ledger.jsonl", ledger.rows("ledger.jsonl", dict))
        folder.write_json("summary.json", {**ledger.json("summary.json"), "corpus": digest})
    cut = VllmRewrite(**inputs, rewritten=short / "rewritten", ledger=short / "ledger", backend="rules")
    with pytest.raises(IntegrityError, match="10 rewrites were wanted, but the parts hold other ids"):
        joined(inputs, [one, cut], tmp_path / "all")


def test_quarantine_is_judged_over_all_parts(inputs: dict[str, Path], tmp_path: Path, server: Client):
    params = {"backend": "openai", "model": "toy", "base_url": server.base_url, "attempts": 1, "concurrency": 1}
    server.order("refusal")
    parts = in_parts(inputs, tmp_path / "parts", 5, **params)  # half of the first part, a tenth of all
    assert joined(inputs, parts, tmp_path / "all", max_quarantined=0.1)
    with pytest.raises(InputError, match=r"10\.0% of the rewrites had to be quarantined \(1 refused\)"):
        joined(inputs, parts, tmp_path / "strict", max_quarantined=0.09)


def test_a_part_must_be_named(inputs: dict[str, Path], tmp_path: Path):
    with pytest.raises(InputError, match="--shard must be 1 to 3 with --shards 3, not 0"):
        whole(inputs, tmp_path / "out", backend="rules", shards=3)
