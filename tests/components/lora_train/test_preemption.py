"""Trainers in processes of their own, their checkpoints on a real S3 server: SIGTERM, SIGKILL, and on again."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import toys
from corpora import canary, copies, records
from s3_server import S3Server

from leakscape import artifacts, schemas

pytestmark = pytest.mark.integration

PLANTED = canary(3, multiplicity=2)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root, made = tmp_path_factory.mktemp("inputs"), artifacts.Provenance()
    toys.save("llama", root / "model")
    with artifacts.create(root / "corpus", schema=schemas.CORPUS, provenance=made) as folder:
        folder.write_rows("records.jsonl", [*records(6), *copies(PLANTED)])
    with artifacts.create(root / "canaries", schema=schemas.CANARIES, provenance=made) as folder:
        folder.write_rows("canaries.jsonl", [PLANTED])
        folder.write_rows("alternatives.jsonl", [{"name": "Gugirafenib"}])
    return {"corpus": root / "corpus", "canaries": root / "canaries", "model": root / "model"}


TRAINERS = {
    "lora-train": {"batch-size": 1, "epochs": 8, "dropout": 0.1},  # 64 steps
    "dp-train": {"lot": 2, "epochs": 16, "delta": 1e-3, "dropout": 0.1},  # 64 steps
}


def command(trainer: str, inputs: dict[str, Any], out: Path, **flags: object) -> list[str]:
    common = {"rank": 4, "device": "cpu", "learning-rate": 1e-3, "adapter": out / "adapter", "log": out / "log"}
    given = {**inputs, **TRAINERS[trainer], **common, **{name.replace("_", "-"): flags[name] for name in flags}}
    return [sys.executable, "-m", "leakscape", trainer, *(f"--{name}={value}" for name, value in given.items())]


def states(s3: S3Server, place: str) -> list[str]:
    return [key for key in s3.keys(place) if key.endswith("state.json")]


def stop(s3: S3Server, place: str, words: list[str], number: signal.Signals) -> tuple[int, str]:
    """Start a trainer and send it a signal once it has saved a state beyond those that are there."""
    before = set(states(s3, place))
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as trainer:
        while not set(states(s3, place)) - before:
            assert trainer.poll() is None
            time.sleep(0.02)
        trainer.send_signal(number)
        _, said = trainer.communicate()
    return trainer.returncode, said


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_stopped_and_killed_trainer_ends_in_the_bytes_of_one_that_was_not(
    s3: S3Server, tmp_path: Path, inputs: dict[str, Any], trainer: str
) -> None:
    assert subprocess.run(command(trainer, inputs, tmp_path / "whole"), check=False).returncode == 0
    place = s3.place("checkpoints")
    words = command(trainer, inputs, tmp_path / "out", checkpoint_dir=place, checkpoint_every=4)
    code, said = stop(s3, place, words, signal.SIGTERM)
    assert code == 75
    assert f"the next run goes on from {place}" in said
    assert stop(s3, place, words, signal.SIGKILL)[0] == -signal.SIGKILL
    assert len(states(s3, place)) in (2, 3)  # three, where it was killed before the oldest went
    assert list(tmp_path.glob("out/*")) == []
    done = subprocess.run(words, check=False)
    assert done.returncode == 0
    assert len(states(s3, place)) == 2
    for name in ("adapter", "log"):
        digests = {artifacts.read_manifest(tmp_path / out / name).digest for out in ("whole", "out")}
        assert len(digests) == 1
