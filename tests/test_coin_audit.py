"""The plan of coins, run for real at a reduced size: the lower bound beside the upper one."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SMALLER = (
    "population.train_count=40",
    "population.held_out_count=20",
    "canaries.count=40",
    "targets.0.train.epochs=3",
    "targets.0.evaluate.membership_records=20",
    "conditions.dp-8.train.lot=16",
    "conditions.control.train.lot=16",
)


@pytest.fixture(scope="module")
def conditions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    out = tmp_path_factory.mktemp("coins") / "out"
    settings = [word for setting in SMALLER for word in ("--set", setting)]
    done = subprocess.run(
        [sys.executable, "-m", "leakscape", "audit", "laptop-coins", "--out", str(out), "--json", *settings],
        env=os.environ | {"OMP_WAIT_POLICY": "passive"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    landscape = json.loads((out / "landscape.json").read_text(encoding="utf-8"))
    return {item["name"]: item for item in landscape["targets"][0]["conditions"]}


@pytest.mark.parametrize("name", ["none", "direct", "dp-8", "control"])
def test_every_condition_is_bounded_by_the_same_coins(conditions: dict[str, dict[str, Any]], name: str):
    """Forty coins, of which half are guessed; every canary that is in stands once."""
    bound = conditions[name]["epsilon_bound"]
    assert (bound["canaries"], bound["guesses"], bound["copies"]) == (40, 20, [1])
    assert 0 <= bound["right"] <= 20
    assert bound["attack"] == "min_k_plus_plus"


def test_what_the_coins_show_is_no_more_than_accounting_allows(conditions: dict[str, dict[str, Any]]):
    spent = conditions["dp-8"]["privacy"]
    assert spent["unit"] == "record"
    assert conditions["dp-8"]["epsilon_bound"]["delta"] == spent["delta"]
    assert conditions["dp-8"]["epsilon_bound"]["epsilon"] <= spent["epsilon"] <= 8


def test_nothing_is_shown_of_a_model_that_saw_no_canary(conditions: dict[str, dict[str, Any]]):
    assert conditions["none"]["epsilon_bound"]["epsilon"] == 0
