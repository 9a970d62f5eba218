"""The laptop plan, run for real: what its conditions must show, and what a second run may not do again."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pipelines.plan import PLANS

SYNTHEA = Path(__file__).parents[2] / "shared" / "data" / "synthea" / "csv-28-columns"

CONDITIONS = {"none", "direct", "scrub", "dp-8"}

pytestmark = pytest.mark.slow


def plan_of(name: str, conditions: set[str], folder: Path, **more: object) -> Path:
    """A packaged plan cut down to some of its conditions, with what is added to it."""
    plan = yaml.safe_load((PLANS / f"{name}.yaml").read_text(encoding="utf-8"))
    plan["conditions"] = [item for item in plan["conditions"] if item["name"] in conditions]
    # safe_load reads 1e-2 as text, which plans (YAML 1.2) read as a number.
    plan["targets"][0]["train"]["learning_rate"] = 0.01
    plan.update(more)
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return file


def audit(plan: Path, out: Path, *more: str, exit_code: int = 0) -> dict[str, Any]:
    command = [sys.executable, "-m", "leakscape", "audit", str(plan), "--out", str(out), "--json", *more]
    done = subprocess.run(
        command, env=os.environ | {"OMP_WAIT_POLICY": "passive"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == exit_code, done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    audit(plan_of("laptop", CONDITIONS, folder), folder / "out")
    return folder


@pytest.fixture(scope="module")
def conditions(out: Path) -> dict[str, dict[str, Any]]:
    landscape = json.loads((out / "out" / "landscape.json").read_text(encoding="utf-8"))
    return {item["name"]: item for item in landscape["targets"][0]["conditions"]}


def figure(condition: dict[str, Any], metric: str, copies: str = "") -> dict[str, float]:
    found = condition["metrics"][metric]
    return dict(found["by_multiplicity"][copies] if copies else found)


@pytest.mark.parametrize("copies", ["16", "32"])
def test_direct_fine_tuning_memorises_what_stands_often(conditions: dict[str, dict[str, Any]], copies: str) -> None:
    for metric, sign in (("verbatim_perplexity", -1), ("exposure_bits", 1)):
        ours, base = (figure(conditions[name], metric, copies) for name in ("direct", "none"))
        nearest, farthest = (ours["high"], base["low"]) if sign < 0 else (ours["low"], base["high"])
        assert sign * (nearest - farthest) > 0, (metric, ours, base)


# Uniform ranks among 201 names: mean of log2(201 / rank) is 1.417 bits, its standard deviation 1.41.
def test_the_untouched_model_ranks_secrets_by_chance(conditions: dict[str, dict[str, Any]]) -> None:
    found = figure(conditions["none"], "exposure_bits")
    ranks = np.arange(1, 202)
    null = np.log2(201 / ranks)
    assert abs(found["value"] - null.mean()) < 3 * null.std() / math.sqrt(found["n"])


def test_scrubbing_identifiers_leaves_the_secret(conditions: dict[str, dict[str, Any]]) -> None:
    scrub, direct, none = (figure(conditions[name], "exposure_bits") for name in ("scrub", "direct", "none"))
    assert scrub["low"] > none["high"]
    assert scrub["high"] > direct["low"]


@pytest.mark.parametrize("name", ["direct", "scrub"])
def test_capability_improves(conditions: dict[str, dict[str, Any]], name: str) -> None:
    for metric in ("held_out_perplexity", "medication_perplexity"):
        assert figure(conditions[name], metric)["value"] < figure(conditions["none"], metric)["value"]


def test_a_second_audit_runs_no_step_again(out: Path, conditions: dict[str, dict[str, Any]]) -> None:
    assert conditions
    again = audit(out / "laptop.yaml", out / "out")
    # Population, canaries and landscape; four evaluations, three trainings, and scrub with its corpus audit.
    assert again["steps"] == {"ran": 0, "reused": 12}


# Exposure of dp-8 is 2.2 [1.2, 3.2] bits, of direct 5.8 [4.9, 6.4] (docs/results.md).
@pytest.mark.parametrize(("condition", "exit_code"), [("dp-8", 0), ("direct", 3)])
def test_the_gate_passes_what_is_private_and_fails_what_leaks(
    out: Path, conditions: dict[str, dict[str, Any]], condition: str, exit_code: int, tmp_path: Path
) -> None:
    assert conditions
    rule = {"metric": "exposure_bits", "condition": condition, "bound": "high", "at_most": 4.0}
    history = {"history": str(tmp_path / "history")}
    gated = plan_of("laptop", CONDITIONS, tmp_path, gate=[rule], report=history)
    ended = audit(gated, out / "out", exit_code=exit_code)
    assert ended["steps"]["ran"] == 3 - bool(exit_code)
    assert set(ended["files"]) == {"landscape.json", "report.html", "verdict.json"}
    verdict = json.loads((out / "out" / "verdict.json").read_text(encoding="utf-8"))
    assert verdict["passed"] is not bool(exit_code)
    (kept,) = (tmp_path / "history" / "laptop" / "tiny").iterdir()
    assert json.loads(kept.read_text(encoding="utf-8"))["passed"] is verdict["passed"]
    command = [sys.executable, "-m", "leakscape", "gate", ended["files"]["verdict.json"]]
    assert subprocess.run(command, capture_output=True, check=False).returncode == exit_code


@pytest.mark.skipif(not SYNTHEA.is_dir(), reason="no Synthea output here")
def test_synthea_s_files_are_audited_from_end_to_end(tmp_path: Path) -> None:
    plan = plan_of("synthea-csv", {"none", "direct"}, tmp_path)
    audit(plan, tmp_path / "out", "--set", f"population.path={SYNTHEA}")
    landscape = json.loads((tmp_path / "out" / "landscape.json").read_text(encoding="utf-8"))
    found = {item["name"]: item["metrics"]["held_out_perplexity"] for item in landscape["targets"][0]["conditions"]}
    assert found["direct"]["value"] < found["none"]["value"]
    # 61 people are left of 116 (docs/records.md); a fifth is held out.
    assert found["none"]["n"] == 12
