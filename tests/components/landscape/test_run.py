import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import audit_fakes
import landscape_fakes as fakes
import pytest

from components.landscape.contract import Landscape
from components.landscape.run import run
from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError
from leakscape.landscape.schema import read

TABLES = {
    "metrics.csv", "differences.csv", "unmeasured.csv", "attacks.csv", "roc.csv", "extraction.csv", "epsilon.csv",
    "judged.csv", "disclosures.csv", "costs.csv", "correlations.csv",
}  # fmt: skip


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Landscape:
    folder = tmp_path_factory.mktemp("landscape")
    made = Landscape(
        measurements=tuple(audit_fakes.laptop(folder)),
        evidence=tuple(audit_fakes.laptop_evidence(folder)),
        plan=audit_fakes.PLAN,
        resamples=300,
        landscape=folder / "out" / "landscape",
        report=folder / "out" / "report.html",
        verdict=folder / "out" / "verdict",
    )
    run(made)
    return made


def test_landscape_reads_back_in_the_form_of_the_design(contract: Landscape):
    landscape = read(contract.landscape)
    assert [item.name for item in landscape.targets[0].conditions] == ["none", "direct", "scrub"]
    raw = json.loads((contract.landscape / "landscape.json").read_text(encoding="utf-8"))
    assert raw["schema"] == "leakscape/landscape/1"
    assert raw["plan"]["name"] == "laptop"
    direct = raw["targets"][0]["conditions"][1]
    assert raw["targets"][0]["model"] == "leakscape/tiny"
    part = direct["metrics"]["verbatim_perplexity"]["by_multiplicity"]["64"]
    assert part.keys() == {"value", "low", "high", "n"}
    assert part["low"] < part["value"] < part["high"]


def test_direct_leaks_at_16_and_above_with_intervals_apart(contract: Landscape):
    none, direct, _ = read(contract.landscape).targets[0].conditions
    for copies in ("16", "32", "64"):
        fell = direct.metrics["verbatim_perplexity"].by_multiplicity[copies]
        before = none.metrics["verbatim_perplexity"].by_multiplicity[copies]
        assert fell.high is not None
        assert before.low is not None
        assert fell.high < before.low


def test_manifest_names_every_input_and_the_files(contract: Landscape):
    manifest = artifacts.load(contract.landscape, schema=schemas.LANDSCAPE).manifest
    digests = [artifacts.read_manifest(path).digest for path in contract.measurements]
    assert manifest.inputs["measurements"] == digests
    assert set(manifest.files) == {"landscape.json", *TABLES}
    assert manifest.versions.keys() >= {"scipy", "matplotlib"}


def test_report_is_one_file_with_nothing_beside_it(contract: Landscape):
    assert contract.report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(item.name for item in contract.report.parent.iterdir()) == ["landscape", "report.html", "verdict"]


def test_equal_inputs_give_equal_bytes_in_another_process(contract: Landscape, tmp_path: Path):
    again = replace(
        contract, landscape=tmp_path / "landscape", report=tmp_path / "report.html", verdict=tmp_path / "verdict"
    )
    code = (
        "from pathlib import Path; from components.landscape.contract import Landscape; "
        "from components.landscape.run import run; "
        f"run(Landscape(measurements={again.measurements}, evidence={again.evidence}, plan={again.plan}, "
        f"resamples=300, landscape={again.landscape!r}, report={again.report!r}, verdict={again.verdict!r}))"
    ).replace("PosixPath", "Path")
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
    assert again.report.read_bytes() == contract.report.read_bytes()
    assert artifacts.read_manifest(again.verdict).digest == artifacts.read_manifest(contract.verdict).digest
    for name in ("landscape.json", *TABLES):
        assert (again.landscape / name).read_bytes() == (contract.landscape / name).read_bytes()


def test_nothing_is_written_for_what_does_not_compare(tmp_path: Path):
    one, other = audit_fakes.laptop(tmp_path, ("none", "direct"), exposure=False)
    rows = [fakes.row("verbatim", "canary-000", 3, multiplicity=1)]
    odd = fakes.store(tmp_path / "odd", fakes.measurements(rows, condition="odd", adapters=("x",)))
    out = tmp_path / "out"
    with pytest.raises(ArtifactError, match="odd"):
        run(
            Landscape(
                measurements=(one, other, odd),
                evidence=(),
                landscape=out / "l",
                report=out / "r.html",
                verdict=out / "v",
            )
        )
    assert not out.exists()


def test_no_landscape_is_left_in_half(contract: Landscape, tmp_path: Path):
    damaged = tmp_path / "damaged"
    artifacts.copy_tree(contract.measurements[0], damaged)
    (damaged / "summary.json").unlink()
    with pytest.raises(ArtifactError, match="missing"):
        run(
            replace(
                contract,
                measurements=(damaged,),
                landscape=tmp_path / "l",
                report=tmp_path / "r.html",
                verdict=tmp_path / "v",
            )
        )
    assert not any((tmp_path / name).exists() for name in ("l", "r.html", "v"))
