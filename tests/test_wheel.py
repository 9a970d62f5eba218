"""The wheel works outside the checkout: plans, prompts, tables, templates and the base model travel with it."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
    )
    [built] = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-qq",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(command, check=True)
    return site


def leakscape(installed: Path, folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(installed)}
    command = [sys.executable, "-P", "-m", "leakscape", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout


def test_every_data_file_of_the_packages_travels(wheel: Path) -> None:
    listed = subprocess.run(
        [shutil.which("git") or "git", "-C", str(ROOT), "ls-files", "leakscape", "components", "pipelines"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert set(listed) <= set(zipfile.ZipFile(wheel).namelist())


def test_it_is_the_wheel_that_runs(installed: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(installed)}
    where = subprocess.run(
        [sys.executable, "-P", "-c", "import leakscape; print(leakscape.__file__)"],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert Path(where.strip()).is_relative_to(installed)


def test_packaged_plans_and_the_base_model_are_found(installed: Path, tmp_path: Path) -> None:
    assert "laptop" in leakscape(installed, tmp_path, "plan", "list")
    assert "synthea-gen" in leakscape(installed, tmp_path, "plan", "check", "laptop")
    leakscape(installed, tmp_path, "compile", "laptop", "--dev", "-o", "audit.yaml")
    assert "leakscape/base" in (tmp_path / "audit.yaml").read_text(encoding="utf-8")


def test_a_small_audit_runs_from_another_folder(installed: Path, tmp_path: Path) -> None:
    plan = tmp_path / "small.yaml"
    plan.write_text(
        "schema: leakscape/plan/1\nname: small\nseed: 0\n"
        "population: {source: builtin, train_count: 12, held_out_count: 6}\n"
        "canaries: {count: 4, multiplicities: [1, 4], alternatives: 20}\n"
        "targets:\n  - model: leakscape/tiny\n    train: {epochs: 1}\n"
        "    evaluate: {membership_records: 0, extraction_samples: 0}\n"
        "conditions:\n  - {name: none, summary: Untouched.}\n"
        "  - {name: direct, summary: As they are., train: {component: lora-train}}\n",
        encoding="utf-8",
    )
    leakscape(installed, tmp_path, "audit", "small.yaml")
    assert (tmp_path / "audits" / "small" / "report.html").stat().st_size > 10_000
