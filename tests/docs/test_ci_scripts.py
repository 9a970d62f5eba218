"""The scripts and the CI files of docs/how-to/gate-in-ci.md: nothing is promoted that was not judged and passed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from checks import ROOT
from gate_fakes import held, verdict
from pages import blocks

from leakscape.typed_json import dump_json, plain

PAGE = ROOT / "docs" / "how-to" / "gate-in-ci.md"
FILES = {block.argument: block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if block.kind == "file"}
SCRIPTS = {"audit.sh": ["hospital.yaml", "small"], "cluster.sh": ["hospital.yaml", "small", "s3://bucket/root"]}

# In place of a run: it ends with the next code of `codes` and leaves what lies in `left`; `gate` is the real one.
STAND_IN = """#!/bin/sh
case $1 in
gate) exec "$REAL_PYTHON" -m leakscape "$@" ;;
fetch) [ -f left/verdict.json ] || exit 2 ;;
submit) [ ! -f left/run.json ] || cat left/run.json ;;
esac
case $1 in audit | fetch) mkdir -p audits/small && cp left/verdict.json audits/small/ 2> /dev/null ;; esac
[ "$1" != fetch ] || exit 0
code=$(head -n 1 codes) && sed -i 1d codes && exit "${code:-99}"
"""


def run(folder: Path, script: str, codes: list[int], *, outcome: str = "", plan: str = "") -> int:
    """A script's exit code where runs end with `codes` and leave a verdict of this outcome ('' for none)."""
    (folder / "bin").mkdir()
    (folder / "left").mkdir()
    for name, text in {
        "leakscape": STAND_IN,
        "sleep": "#!/bin/sh\n",
        "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
    }.items():
        (folder / "bin" / name).write_text(text, encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    if outcome:
        (folder / "left" / "verdict.json").write_text(dump_json(plain(verdict(held(outcome)))), encoding="utf-8")
        (folder / "left" / "run.json").write_text('{"run": "0f1e"}', encoding="utf-8")
    (folder / "codes").write_text("".join(f"{code}\n" for code in codes), encoding="utf-8")
    (folder / "hospital.yaml").write_text(plan or FILES["hospital.yaml"], encoding="utf-8")
    (folder / script).write_text(FILES[script], encoding="utf-8")
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "REAL_PYTHON": sys.executable}
    command = ["sh", script, *SCRIPTS[script]]
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True).returncode


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    ("codes", "outcome", "ended"),
    [
        ([0], "passed", 0),
        ([3], "failed", 3),
        ([0], "failed", 3),  # the verdict has the last word
        ([1], "passed", 1),
        ([2], "", 2),
        ([0], "", 1),  # no verdict, no promotion
    ],
)
def test_the_exit_code_is_the_audit_s(tmp_path: Path, script: str, codes: list[int], outcome: str, ended: int):
    assert run(tmp_path, script, codes, outcome=outcome) == ended
    assert (tmp_path / "gate.xml").is_file() is bool(outcome)


@pytest.mark.parametrize(("codes", "ended"), [([75, 0], 0), ([75, 75, 75], 75), ([75, 3], 3)])
def test_what_is_transient_is_tried_again(tmp_path: Path, codes: list[int], ended: int):
    assert run(tmp_path, "audit.sh", codes, outcome="failed" if ended == 3 else "passed") == ended
    assert not (tmp_path / "codes").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_plan_without_a_gate_is_refused(tmp_path: Path, script: str):
    assert run(tmp_path, script, [0], outcome="passed", plan="schema: leakscape/plan/1\n") == 2


def test_an_old_verdict_does_not_speak_for_a_new_audit(tmp_path: Path):
    (tmp_path / "audits" / "small").mkdir(parents=True)
    old = tmp_path / "audits" / "small" / "verdict.json"
    old.write_text(dump_json(plain(verdict(held("passed")))), encoding="utf-8")
    assert run(tmp_path, "audit.sh", [0]) == 1
    assert not old.exists()


def test_promotion_waits_for_the_audit():
    github, gitlab = (yaml.safe_load(FILES[name]) for name in (".github/workflows/privacy.yml", ".gitlab-ci.yml"))
    assert github["jobs"]["promote"]["needs"] == "audit"
    assert gitlab["stages"] == ["audit", "promote"]
    assert [gitlab[name]["stage"] for name in ("audit", "promote")] == ["audit", "promote"]
    steps = [step.get("run", "") for step in github["jobs"]["audit"]["steps"]]
    assert "sh audit.sh hospital.yaml hospital" in steps
    assert gitlab["audit"]["script"] == ["sh audit.sh hospital.yaml hospital"]
    assert not any("allow_failure" in gitlab[name] for name in ("audit", "promote"))


def test_records_are_not_kept_in_ci():
    kept = [*yaml.safe_load(FILES[".gitlab-ci.yml"])["audit"]["artifacts"]["paths"]]
    for step in yaml.safe_load(FILES[".github/workflows/privacy.yml"])["jobs"]["audit"]["steps"]:
        kept += step.get("with", {}).get("path", "").split()
    names = {"report.html", "landscape.json", "verdict.json", "gate.xml"}
    assert {Path(path).name for path in kept} == names
