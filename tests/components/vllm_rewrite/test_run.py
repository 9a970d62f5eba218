"""The component from artifact to artifact, against rules and against a server that misbehaves on order."""

import datetime as dt
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import misbehaving_server
import pytest
from misbehaving_server import Client

from components.vllm_rewrite.contract import VllmRewrite
from components.vllm_rewrite.run import run
from leakscape import artifacts, schemas
from leakscape.errors import InputError
from leakscape.records import builtin
from leakscape.records.record import CorpusRecord, Record, instance

RECORDS = 24


def records(stream: str, count: int) -> list[Record]:
    return list(builtin.generate(count, seed=3, stream=stream, reference_date=dt.date(2026, 1, 1)))


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    with artifacts.create(tmp_path / "corpus", schema=schemas.CORPUS, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", (instance(record) for record in records("train", RECORDS)))
    with artifacts.create(
        tmp_path / "exemplars", schema=schemas.POPULATION, provenance=artifacts.Provenance()
    ) as folder:
        folder.write_rows("records.jsonl", records("exemplars", 2))
    return {"corpus": tmp_path / "corpus", "exemplars": tmp_path / "exemplars"}


@pytest.fixture(scope="module")
def server() -> Iterator[Client]:
    with misbehaving_server.running() as client:
        yield client


def rewrite(inputs: dict[str, Path], out: Path, **params: object) -> VllmRewrite:
    contract = VllmRewrite(**inputs, rewritten=out / "rewritten", ledger=out / "ledger", **params)  # type: ignore[arg-type]
    run(contract)
    return contract


def served(server: Client, **params: object) -> dict[str, object]:
    return {"backend": "openai", "model": "toy", "base_url": server.base_url, "retries": 2, "timeout": 5.0, **params}


def texts(contract: VllmRewrite) -> dict[str, str]:
    corpus = artifacts.load(contract.rewritten, schema=schemas.CORPUS)
    return {record.id: record.text for record in corpus.rows("records.jsonl", CorpusRecord)}


@pytest.mark.parametrize("strategy", ["rewrite", "privacy-aware"])
def test_rules_rewrite_every_record(inputs: dict[str, Path], tmp_path: Path, strategy: str) -> None:
    first = rewrite(inputs, tmp_path / "first", backend="rules", strategy=strategy, rare_below=3)
    second = rewrite(inputs, tmp_path / "second", backend="rules", strategy=strategy, rare_below=3)
    assert list(texts(first)) == [record.id for record in records("train", RECORDS)]
    for output in ("rewritten", "ledger"):
        one, two = (artifacts.read_manifest(getattr(contract, output)).digest for contract in (first, second))
        assert one == two


def test_copies_are_rewritten_each_on_its_own(inputs: dict[str, Path], tmp_path: Path) -> None:
    made = texts(rewrite(inputs, tmp_path / "out", backend="rules", copies=3))
    assert len(made) == 3 * RECORDS
    assert len({made[f"train-000001/r{copy}"] for copy in (1, 2, 3)}) > 1


def test_nothing_is_lost_among_faults(inputs: dict[str, Path], tmp_path: Path, server: Client) -> None:
    server.order("429", "truncated", "500", "empty", "half-closed", "declines", "refusal", "not json", "filtered")
    made = rewrite(inputs, tmp_path / "out", **served(server))
    assert list(texts(made)) == [record.id for record in records("train", RECORDS)]
    summary = artifacts.load(made.ledger, schema=schemas.LEDGER).json("summary.json")
    assert summary["rewritten"] == RECORDS
    assert summary["quarantined"] == {}
    # Every fault but those that the client retries by itself stands in the ledger as an answer of its own.
    assert summary["answers"] == {"accepted": RECORDS, "empty": 1, "failed": 1, "refused": 3, "truncated": 1}
    assert summary["corpus"] == artifacts.read_manifest(made.rewritten).digest


def test_ledger_holds_no_text_of_a_record(inputs: dict[str, Path], tmp_path: Path) -> None:
    made = rewrite(inputs, tmp_path / "out", backend="rules")
    kept = (made.ledger / "ledger.jsonl").read_text(encoding="utf-8")
    assert not any(record.name in kept or record.ssn in kept for record in records("train", RECORDS))


def test_too_many_in_quarantine_fail_the_step(inputs: dict[str, Path], tmp_path: Path, server: Client) -> None:
    server.order(*["refusal"] * RECORDS)
    with pytest.raises(InputError, match=r"100\.0% of the rewrites had to be quarantined \(24 refused\)"):
        rewrite(inputs, tmp_path / "out", **served(server, attempts=1))
    assert not (tmp_path / "out" / "rewritten").exists()


def test_few_in_quarantine_are_counted_and_shown(
    inputs: dict[str, Path], tmp_path: Path, server: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    server.order("refusal")
    made = rewrite(inputs, tmp_path / "out", **served(server, attempts=1, max_quarantined=0.1, concurrency=1))
    assert len(texts(made)) == RECORDS - 1
    assert "1 of 24 rewrites quarantined (1 refused)" in capsys.readouterr().err


def test_an_exemplar_of_the_private_cohort_is_refused(inputs: dict[str, Path], tmp_path: Path) -> None:
    private = tmp_path / "private"
    with artifacts.create(private, schema=schemas.POPULATION, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", records("train", 2))
    with pytest.raises(InputError, match="an exemplar is a person of the corpus"):
        rewrite(inputs | {"exemplars": private}, tmp_path / "out", backend="rules")


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"backend": "openai"}, "--model must be given for --backend openai"),
        ({"backend": "transformers", "model": "x", "temperature": -1.0}, "this backend needs 0 or more"),
        ({"backend": "openai", "model": "x", "key_variable": "sk-0"}, "--key-variable does not fit"),
        ({"backend": "openai", "model": "x", "base_url": "http://a:b@c/v1"}, "--base-url holds a password"),
        ({"backend": "openai", "model": "x", "key_variable": "NO_SUCH_VARIABLE"}, "NO_SUCH_VARIABLE must hold"),
        ({"backend": "rules", "strategy": "summarise-expand"}, "needs a language model"),
    ],
)
def test_missing_settings_are_named(
    inputs: dict[str, Path], tmp_path: Path, params: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        rewrite(inputs, tmp_path / "out", **params)


@pytest.mark.slow
def test_a_step_killed_ten_times_gives_what_one_run_gives(
    inputs: dict[str, Path], tmp_path: Path, server: Client
) -> None:
    server.order()
    whole = rewrite(inputs, tmp_path / "whole", **served(server, strategy="summarise-expand"))
    server.order("truncated", "empty")
    flags = {**inputs, "rewritten": tmp_path / "out" / "rewritten", "ledger": tmp_path / "out" / "ledger"}
    settings = served(server, strategy="summarise-expand", concurrency=1, ledger_dir=tmp_path / "kept")
    command = [sys.executable, "-m", "leakscape", "vllm-rewrite"]
    for name, value in (flags | settings).items():
        command += ["--" + name.replace("_", "-"), str(value)]
    draw = random.Random(0)
    for _ in range(10):
        answered = kill_after(command, tmp_path / "kept", lines=draw.randint(1, 4))
        if not answered:
            break
    assert subprocess.run(command, env=quiet(), check=False, capture_output=True).returncode == 0
    assert artifacts.read_manifest(flags["rewritten"]).digest == artifacts.read_manifest(whole.rewritten).digest
    # Two stages for each record and two bad answers; a kill loses at most the one answer under way.
    asked = len(server.requests())
    assert 2 * RECORDS + 2 <= asked <= 2 * RECORDS + 2 + 10


def kill_after(command: list[str], ledgers: Path, *, lines: int) -> bool:
    """Start the step and kill it outright once it kept so many more answers; False if it ended by itself."""
    before = kept_lines(ledgers)
    with subprocess.Popen(command, env=quiet(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            if kept_lines(ledgers) >= before + lines:
                process.send_signal(signal.SIGKILL)
                return True
            time.sleep(0.005)
    return False


def kept_lines(ledgers: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in ledgers.glob("*.jsonl"))


def quiet() -> dict[str, str]:
    return os.environ | {"OPENAI_API_KEY": "unset", "OMP_NUM_THREADS": "1"}
