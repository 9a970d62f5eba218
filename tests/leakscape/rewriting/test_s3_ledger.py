"""The ledger of numbered objects: on a folder's place, and on a real S3 server with real processes."""

import datetime as dt
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import misbehaving_server
import pytest
from s3_faults import proxied
from s3_server import S3Server

from leakscape import artifacts, schemas
from leakscape.errors import InputError
from leakscape.records import builtin
from leakscape.records.record import instance
from leakscape.rewriting.ledger import Entry, S3Ledger, open_ledger
from leakscape.storage import Place, open_place
from leakscape.storage.lease import Lease


def entry(attempt: int) -> Entry:
    return Entry(
        request="train-1|rewrite", attempt=attempt, outcome="accepted", text="Zoë\u2028takes it.", reason="",
        tokens_in=1, tokens_out=2, seconds=0.5, cost=0.25,
    )  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return open_place(str(tmp_path / "job"))


def check_order(place: Place) -> None:
    ledger = S3Ledger(place, seconds=600.0)
    for attempt in range(1, 12):
        ledger.append([entry(attempt)])
    ledger.append([entry(12), entry(13)])
    ledger.close()
    again = S3Ledger(place, seconds=600.0)
    assert [kept.attempt for kept in again.entries()] == list(range(1, 14))
    assert next(again.entries()) == entry(1)
    again.append([entry(14)])
    again.close()
    # Each run takes a number before its first append: 1 + 12 of the first, 1 + 1 of the second.
    assert max(place.names("part-")) == "part-00000015.jsonl"


def test_entries_come_back_in_their_order(place: Place) -> None:
    check_order(place)


@pytest.mark.integration
def test_entries_come_back_in_their_order_from_s3(s3: S3Server) -> None:
    check_order(open_place(s3.place("ledger")))


def test_a_second_run_is_refused_and_loses_nothing(place: Place) -> None:
    first = S3Ledger(place, seconds=0.3)
    first.append([entry(1)])
    with pytest.raises(InputError, match="in use by another run of the same job"):
        S3Ledger(place, seconds=0.6)
    first.append([entry(2)])
    assert [kept.attempt for kept in first.entries()] == [1, 2]
    first.close()


def test_a_run_that_was_taken_over_writes_no_more(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lease is gone and its holder does not know yet: the numbers keep it out."""
    monkeypatch.setattr(Lease, "_live", lambda self: self._ended.wait())
    old = S3Ledger(place, seconds=0.05)
    old.append([entry(1)])
    new = S3Ledger(place, seconds=0.05)
    with pytest.raises(InputError, match="written by another run of the same job"):
        old.append([entry(2)])
    new.append([entry(3)])
    assert [kept.attempt for kept in new.entries()] == [1, 3]
    new.close()
    old.close()


@pytest.mark.integration
def test_an_answer_whose_append_was_not_confirmed_is_kept_once(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)
    with proxied(s3.endpoint) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        ledger = open_ledger(s3.place("ledger"), "job")
        proxy.order("PUT", "lost answer", match="part-")
        ledger.append([entry(1)])
        ledger.append([entry(2)])
        assert [kept.attempt for kept in ledger.entries()] == [1, 2]
        ledger.close()


REWRITE = """
import sys
from leakscape.cli import main
from leakscape.rewriting import ledger
ledger.LEASE_SECONDS = 0.6
sys.exit(main(sys.argv[1:]))
"""
RECORDS = 24


def corpora(folder: Path) -> dict[str, object]:
    made = {}
    for name, schema, count in (("corpus", schemas.CORPUS, RECORDS), ("exemplars", schemas.POPULATION, 2)):
        stream = "train" if name == "corpus" else name
        records = builtin.generate(count, seed=3, stream=stream, reference_date=dt.date(2026, 1, 1))
        rows = (instance(record) for record in records) if name == "corpus" else records
        with artifacts.create(folder / name, schema=schema, provenance=artifacts.Provenance()) as artifact:
            artifact.write_rows("records.jsonl", rows)
        made[name] = folder / name
    return {**made}


def command(flags: dict[str, object], out: Path) -> list[str]:
    outputs = {"rewritten": out / "rewritten", "ledger": out / "ledger"}
    words = [str(word) for name, value in (flags | outputs).items() for word in (f"--{name}", value)]
    return [sys.executable, "-c", REWRITE, "vllm-rewrite", *words]


def parts(s3: S3Server, place: str) -> int:
    return sum("/part-" in key for key in s3.keys(place))


def kill_after(s3: S3Server, place: str, words: list[str], *, new: int) -> None:
    """Start a job and kill it outright once it has kept so many more objects."""
    wanted = parts(s3, place) + new
    with subprocess.Popen(words, env=os.environ, stderr=subprocess.DEVNULL) as job:
        while parts(s3, place) < wanted:
            assert job.poll() is None
            time.sleep(0.01)
        job.send_signal(signal.SIGKILL)


@pytest.mark.integration
def test_a_job_killed_ten_times_gives_what_one_run_gives_and_a_second_beside_it_is_refused(
    s3: S3Server, tmp_path: Path
) -> None:
    place, draw = s3.place("ledgers"), random.Random(0)
    with misbehaving_server.running() as server:
        flags = corpora(tmp_path) | {
            "backend": "openai", "model": "toy", "timeout": 10.0, "retries": 2, "base-url": server.base_url,
            "strategy": "summarise-expand", "concurrency": 1,
        }  # fmt: skip
        server.order("truncated", "empty")
        assert subprocess.run(command(flags, tmp_path / "whole"), check=False).returncode == 0

        kept = command(flags | {"ledger-dir": place}, tmp_path / "out")
        server.order("truncated", "empty")
        for _ in range(10):
            kill_after(s3, place, kept, new=draw.randint(2, 4))  # the first object marks its start
        asked = len(server.requests())
        server.order("hang")  # until the first job's call times out, so that the second finds it at work
        with subprocess.Popen(kept, stderr=subprocess.DEVNULL) as first:
            while not server.requests():
                assert first.poll() is None
                time.sleep(0.01)
            beside = command(flags | {"ledger-dir": place}, tmp_path / "beside")
            second = subprocess.run(beside, check=False, capture_output=True, text=True)
            assert first.wait() == 0
        asked += len(server.requests()) - 1
    assert second.returncode == 2
    assert "in use by another run of the same job" in second.stderr
    assert not (tmp_path / "beside" / "rewritten").exists()
    for name in ("rewritten/records.jsonl", "ledger/ledger.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    # Two stages for each record and two bad answers; a kill loses at most the one answer under way.
    assert 2 * RECORDS + 2 <= asked <= 2 * RECORDS + 2 + 10


@pytest.mark.integration
def test_sigterm_keeps_what_was_answered_and_the_next_run_goes_on(s3: S3Server, tmp_path: Path) -> None:
    place = s3.place("ledgers")
    with misbehaving_server.running() as server:
        flags = corpora(tmp_path) | {
            "backend": "openai", "model": "toy", "timeout": 30.0, "base-url": server.base_url, "concurrency": 2,
            "ledger-dir": place,
        }  # fmt: skip
        words = command(flags, tmp_path / "out")
        server.order(*["well"] * 4, "hang", "hang")
        # The fifth and sixth call hang for longer than the grace that the job is given.
        env = os.environ | {"LEAKSCAPE_GRACE_SECONDS": "0.5"}
        with subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True) as job:
            while len(server.requests()) < 6 or parts(s3, place) < 5:
                assert job.poll() is None
                time.sleep(0.01)
            job.send_signal(signal.SIGTERM)
            _, said = job.communicate()
        assert job.returncode == 75
        assert "stopped by SIGTERM; the step did not end in time" in said
        assert parts(s3, place) == 1 + 4

        server.order()
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as job:
            while parts(s3, place) < 8:
                assert job.poll() is None
                time.sleep(0.01)
            job.send_signal(signal.SIGTERM)
            _, said = job.communicate()
        asked = len(server.requests())
        assert job.returncode == 75
        assert "stopped by SIGTERM; nothing half-written was left" in said
        (lease,) = (name for name in s3.keys(place) if name.endswith("lease.json"))
        held = s3.client().get_object(Bucket=s3.bucket, Key=lease)["Body"].read()
        assert json.loads(held)["holder"] == ""  # the next run need not wait
        assert not (tmp_path / "out" / "rewritten").exists()

        kept = parts(s3, place) - 2  # two runs marked their start
        server.order()
        assert subprocess.run(words, check=False).returncode == 0
        assert len(server.requests()) == RECORDS - kept
        assert asked <= kept - 4 + 2  # what was under way, at most, was asked in vain
