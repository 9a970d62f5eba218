"""Scanners over what is placed on a cluster: checkov over chart and overlays, hadolint over the Containerfiles."""

import json
import re
from pathlib import Path

import pytest
from checks import ROOT, run

pytestmark = pytest.mark.integration

CHART = ROOT / "charts" / "leakscape"
SCANNED = ("vllm", "static-keys", "airgapped")
"""The variants that together render every template; `dev` names images by tag on purpose."""


def test_checkov_finds_nothing_but_what_is_explained(tmp_path: Path):
    for name in SCANNED:
        values = CHART / "ci" / f"{name}-values.yaml"
        text = run("helm", "template", "demo", CHART, "--namespace", "audits", "-f", values).stdout
        (tmp_path / f"chart-{name}.yaml").write_text(text, encoding="utf-8")
    for name in ("irsa", "kind"):
        text = run("kubectl", "kustomize", ROOT / "manifests" / "overlays" / name).stdout
        (tmp_path / f"overlay-{name}.yaml").write_text(text, encoding="utf-8")
    options = ["--config-file", ROOT / ".checkov.yaml", "--output", "json"]
    done = run("checkov", *options, "--directory", tmp_path, check=False)
    found = json.loads(done.stdout)
    failed = {f"{check['check_id']} {check['resource']}" for check in found["results"]["failed_checks"]}
    assert failed == set()
    assert found["summary"]["passed"] > 1000
    assert found["summary"]["parsing_errors"] == 0


def test_each_exception_of_checkov_is_explained():
    skipped = (ROOT / ".checkov.yaml").read_text(encoding="utf-8").partition("skip-check:\n")[2]
    assert re.fullmatch(r"(?:(?:  # .+\n)+(?:  - CKV\w+\n)+)+", skipped)


def test_hadolint_accepts_the_containerfiles():
    files = sorted((ROOT / "images").glob("*/Containerfile"))
    assert files
    done = run("hadolint", "--failure-threshold", "warning", *files, check=False)
    assert done.returncode == 0, done.stdout
