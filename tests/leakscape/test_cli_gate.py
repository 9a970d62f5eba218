import json
import os
from pathlib import Path

import pytest
from gate_fakes import held, verdict

from leakscape import artifacts, cli, schemas
from leakscape.artifacts import Provenance
from leakscape.landscape.verdict import FILE, Verdict
from leakscape.typed_json import plain


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITLAB_CI", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def store(path: Path, found: Verdict) -> str:
    with artifacts.create(path, schema=schemas.VERDICT, provenance=Provenance(component="landscape")) as folder:
        folder.write_json(FILE, found)
    return str(path)


def test_a_gate_that_passed_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["gate", store(tmp_path / "v", verdict(held("passed"), held("skipped")))]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("small: the gate passed, 2 rules.\n  pass  tiny: exposure_bits of direct")
    assert shown.count("\n  skip  ") == 1


@pytest.mark.parametrize("outcome", ["failed", "unmeasured"])
def test_a_gate_that_failed_exits_3_with_the_rule(outcome: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = store(tmp_path / "v", verdict(held(outcome)))
    for named in (path, str(tmp_path / "v" / FILE)):
        assert cli.main(["gate", named]) == 3
        assert "small: the gate failed, 1 of 1 rule not kept.\n  FAIL  tiny: " in capsys.readouterr().out


def test_json_is_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    found = verdict(held("failed"))
    assert cli.main(["gate", store(tmp_path / "v", found), "--json"]) == 3
    assert json.loads(capsys.readouterr().out) == plain(found)


def test_files_for_other_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    path = store(tmp_path / "v", verdict(held("failed")))
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert cli.main(["gate", path, "--junit", str(tmp_path / "out" / "gate.xml")]) == 3
    assert summary.read_text(encoding="utf-8").startswith("before\n## small: the gate failed")
    assert "<failure" in (tmp_path / "out" / "gate.xml").read_text(encoding="utf-8")
    monkeypatch.setenv("GITLAB_CI", "true")
    capsys.readouterr()
    assert cli.main(["gate", path]) == 3
    assert "section_start:" in capsys.readouterr().out


def test_wrong_use_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = store(tmp_path / "v", verdict(held("passed")))
    for argv, words in (
        (["gate", str(tmp_path / "gone.json")], "does not exist; name a verdict artifact or a verdict.json"),
        (["gate", str(tmp_path)], "is no artifact"),
        (["gate", path, "--openmetrics", str(tmp_path / "m.txt")], "name its artifact with --landscape"),
    ):
        assert cli.main(argv) == 2
        assert words in capsys.readouterr().err
    (tmp_path / "v" / FILE).write_text("{}", encoding="utf-8")
    assert cli.main(["gate", path]) == 2
    assert "has changed since it was written" in capsys.readouterr().err
    assert cli.main(["gate", str(tmp_path / "v" / FILE)]) == 2
    assert "does not fit a verdict" in capsys.readouterr().err


def test_a_failed_gate_fails_though_nobody_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`leakscape gate VERDICT | grep -q failed` under pipefail: the reader is gone after the first line."""
    path = store(tmp_path / "v", verdict(held("failed")))
    for gone in ([], ["--json"]):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as stream:
            monkeypatch.setattr("sys.stdout", stream)
            assert cli.main(["gate", path, *gone]) == 3
    monkeypatch.setattr("sys.stdout", None)
    assert cli.main(["gate", path]) == 3


def test_a_verdict_that_contradicts_its_rules_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Only its hash guards a verdict, and a copy of verdict.json has none."""
    copied = tmp_path / FILE
    for outcome in ("failed", "unmeasured", "passed"):
        found = verdict(held(outcome))
        copied.write_text(json.dumps({**plain(found), "passed": not found.passed}), encoding="utf-8")
        assert cli.main(["gate", str(copied)]) == 2
        assert "passed is not what its rules say" in capsys.readouterr().err


def test_a_copied_verdict_is_read_as_json_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    copied = tmp_path / FILE
    text = json.dumps(plain(verdict(held("passed"))))
    copied.write_text(text, encoding="utf-8-sig")
    assert cli.main(["gate", str(copied)]) == 0
    copied.write_text(text.replace("5.1", "NaN"), encoding="utf-8")
    assert cli.main(["gate", str(copied)]) == 2
    assert "is not JSON" in capsys.readouterr().err


def test_the_report_for_ci_goes_through_a_link_and_spares_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = store(tmp_path / "v", verdict(held("passed")))
    link = tmp_path / "stdout"
    link.symlink_to(tmp_path / "log.xml")
    assert cli.main(["gate", path, "--junit", str(link)]) == 0
    assert link.is_symlink()
    assert "<testsuite" in (tmp_path / "log.xml").read_text(encoding="utf-8")
    assert cli.main(["gate", path, "--junit", str(tmp_path)]) == 2
    assert f"{tmp_path} is a folder; name a file." in capsys.readouterr().err
