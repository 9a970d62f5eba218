"""Fixtures for tests of the component."""

from pathlib import Path

import pytest
import toys
from evaluate_toys import CANARIES, HELD_OUT, NAMES, ORIGINAL, save

from components.evaluate.contract import Evaluate
from leakscape import schemas


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    return {name: str(toys.save(name, folder / name)) for name in ("llama", "gpt_oss")}


@pytest.fixture
def contract(tmp_path: Path, models: dict[str, str]) -> Evaluate:
    canaries = {"canaries": CANARIES, "alternatives": [{"name": name} for name in NAMES]}
    return Evaluate(
        canaries=save(tmp_path / "canaries", schemas.CANARIES, **canaries),
        held_out=save(tmp_path / "held_out", schemas.POPULATION, records=HELD_OUT),
        original=save(tmp_path / "original", schemas.CORPUS, records=ORIGINAL),
        adapters=(),
        target="toy",
        condition="none",
        model=models["llama"],
        device="cpu",
        unplanted=2,
        extraction_samples=2,
        measurements=tmp_path / "measurements",
        roc=tmp_path / "roc.json",
    )
