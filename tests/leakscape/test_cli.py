import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from plan_fakes import CONTRACTS, PLAN

import components
from leakscape import __version__, artifacts, cli
from leakscape.contract import IMAGES, Param, spec


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(components, "contracts", lambda: CONTRACTS)
    file = tmp_path / "p.yaml"
    file.write_text(PLAN, encoding="utf-8")
    return str(file)


def exit_of(*argv: str) -> int:
    """The exit code, whether argparse ends the process or a command returns."""
    try:
        return cli.main(argv)
    except SystemExit as ended:
        return int(str(ended.code))


def every_command() -> list[list[str]]:
    return [
        [],
        ["audit"],
        ["plan"],
        ["plan", "check"],
        ["plan", "cost"],
        ["plan", "list"],
        ["compile"],
        ["verify"],
        ["selftest"],
    ]


@pytest.mark.parametrize("command", every_command(), ids=" ".join)
def test_every_command_has_help_with_an_example(command: list[str], capsys: pytest.CaptureFixture[str]):
    assert exit_of(*command, "--help") == 0
    shown = capsys.readouterr().out
    assert "\nexample:\n  leakscape " in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_version(capsys: pytest.CaptureFixture[str]):
    assert exit_of("--version") == 0
    assert capsys.readouterr().out == f"leakscape {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["plan"], ["frobnicate"], ["audit"], ["compile", "laptop"], ["verify"]])
def test_wrong_use_exits_2_on_stderr(argv: list[str], capsys: pytest.CaptureFixture[str]):
    assert exit_of(*argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "usage: leakscape" in captured.err


def test_a_terminal_without_unicode_gets_escapes():
    shown = subprocess.run(
        [sys.executable, "-c", "from leakscape.cli import common; common.answer('tiny · scrub')"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    ).stdout
    assert shown == rb"tiny \xb7 scrub" + b"\n"


def test_plan_check_shows_the_steps(plan: str, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["plan", "check", plan]) == 0
    shown = capsys.readouterr().out
    assert "tiny · scrub · lora-train" in shown
    assert "11 steps; 17 if nothing were shared." in shown
    # 25 canaries in five groups: 5 * (1 + 4 + 16 + 32 + 64) = 585 copies.
    assert "585 copies): 885 training instances" in shown


def test_plan_check_as_json(plan: str, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["plan", "check", plan, "--json", "--set", "canaries.count=50"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["steps_without_sharing"] == 17
    assert shown["steps"][1]["parameters"]["count"] == 50


def test_plan_check_says_what_can_be_detected(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["plan", "check", "laptop"]) == 0
    shown = capsys.readouterr().out
    assert "What this plan can show" in shown
    assert "Finding 0.5 bits takes" in shown
    assert "Warning: This plan can find little" in shown
    assert cli.main(["plan", "check", "laptop", "--json", "--detect", "2", "--detect", "0.8"]) == 0
    (power,) = json.loads(capsys.readouterr().out)["power"]
    assert [need["bits"] for need in power["needed"]] == [2, 0.8]
    assert power["groups"][0]["multiplicity"] is None


@pytest.mark.parametrize("bits", ["0", "-1", "nan", "inf", "much"])
def test_differences_that_nothing_finds_are_refused(bits: str, capsys: pytest.CaptureFixture[str]):
    assert exit_of("plan", "check", "laptop", "--detect", bits) == 2
    assert f"--detect: {bits} is no difference to look for" in capsys.readouterr().err


def test_plan_cost_counts_work(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["plan", "cost", "laptop"]) == 0
    assert "Tokens are estimates" in capsys.readouterr().out
    assert cli.main(["plan", "cost", "laptop", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {one["instances"] for one in shown["training"]} == {372}
    assert shown["training"][0]["flops"] > 0
    assert shown["asking"] == []


def test_a_faulty_plan_exits_2_with_its_line(plan: str, capsys: pytest.CaptureFixture[str]):
    Path(plan).write_text(PLAN.replace("count: 25", "count: 0"), encoding="utf-8")
    assert cli.main(["plan", "check", plan]) == 2
    assert capsys.readouterr().err == f"leakscape: {plan}, line 7: canaries.count must be at least 1, not 0.\n"


def test_a_faulty_override_names_itself(plan: str, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["plan", "check", plan, "--set", "canaries.count=0"]) == 2
    assert "--set canaries.count: canaries.count must be at least 1" in capsys.readouterr().err


def test_plan_list_names_all(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["plan", "list"]) == 0
    assert "laptop" in capsys.readouterr().out
    assert cli.main(["plan", "list", "--json"]) == 0
    assert {"laptop", "paper-main"} <= {entry["name"] for entry in json.loads(capsys.readouterr().out)}


def digests(folder: Path, *, digest: str = "sha256:" + "a" * 64) -> str:
    file = folder / "digests.yaml"
    images = {name: {"repository": f"r.example/{name}", "digest": digest} for name in IMAGES}
    file.write_text(yaml.safe_dump({"images": images}), encoding="utf-8")
    return str(file)


def test_compile_writes_yaml_and_refuses_other_names(plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    target = tmp_path / "audit.yaml"
    assert cli.main(["compile", plan, "--images", digests(tmp_path), "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    assert f"r.example/base@sha256:{'a' * 64}" in target.read_text(encoding="utf-8")
    assert cli.main(["compile", plan, "-o", str(tmp_path / "audit.json")]) == 2
    assert "name a file that ends with .yaml" in capsys.readouterr().err


def test_compile_spares_the_plan(plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    link = tmp_path / "link.yaml"
    link.symlink_to(plan)
    for target in (plan, str(link)):
        assert cli.main(["compile", plan, "--images", digests(tmp_path), "-o", target]) == 2
        assert "is the plan itself; name another file" in capsys.readouterr().err
    assert Path(plan).read_text(encoding="utf-8") == PLAN


@pytest.mark.parametrize("digest", ["", "sha256:" + "0" * 64])
def test_compile_refuses_images_without_a_digest(
    plan: str, digest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    target = tmp_path / "audit.yaml"
    asked = ["compile", plan, "--images", digests(tmp_path, digest=digest), "-o", str(target)]
    assert cli.main(asked) == 2
    assert "gives no digest for base, train, rewrite, evaluate" in capsys.readouterr().err
    assert not target.exists()
    assert cli.main([*asked, "--dev"]) == 0
    assert "r.example/base:dev" in target.read_text(encoding="utf-8")
    assert "--dev: r.example/base:dev, " in capsys.readouterr().err


def artifact(path: Path) -> Path:
    made = artifacts.Provenance(component="scrub", arguments={"detector": "rules"})
    with artifacts.create(path, schema="leakscape/corpus/1", provenance=made) as folder:
        folder.write_rows("records.jsonl", [{"id": "a"}, {"id": "b"}])
    return path


def test_verify_shows_what_is_intact_and_how_it_was_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = artifact(tmp_path / "deep" / "corpus")
    artifact(tmp_path / ".store" / "corpus")
    assert cli.main(["verify", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("intact") == 1
    assert f"{path}: intact" in shown
    assert "leakscape/corpus/1" in shown
    assert '{"detector": "rules"}' in shown
    assert cli.main(["verify", "--json", str(path)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["digest"] == artifacts.read_manifest(path).digest


def test_verify_refuses_changed_bytes_and_what_is_no_artifact(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["verify", str(tmp_path)]) == 2
    assert "is no artifact and holds none" in capsys.readouterr().err
    path = artifact(tmp_path / "corpus")
    (path / "records.jsonl").write_text("{}\n", encoding="utf-8")
    assert cli.main(["verify", str(path)]) == 2
    assert "has changed since it was written" in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.component_names())
def test_each_component_answers_by_its_name(name: str, capsys: pytest.CaptureFixture[str]):
    assert exit_of(name, "--help") == 0
    shown = capsys.readouterr().out
    for field in spec(components.contracts()[name]).fields:
        assert field.flag in shown
        assert not isinstance(field.role, Param) or field.role.description


def test_component_names_are_those_of_the_contracts():
    assert cli.component_names() == list(components.contracts())


def test_the_command_line_loads_nothing_heavy():
    code = (
        "import sys, leakscape.cli; leakscape.cli.main(['plan', 'list']);"
        "print([name for name in ('kfp', 'torch', 'transformers', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.splitlines()[-1] == "[]"


def test_as_a_module_and_into_a_closed_pipe():
    command = [sys.executable, "-m", "leakscape", "plan", "list", "--json"]
    reading, writing = os.pipe()
    os.close(reading)
    made = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=True)
    os.close(writing)
    assert made.stderr == b""


def test_a_folder_that_is_a_file_is_refused_in_a_sentence(plan: str, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["audit", plan, "--out", plan]) == 2
    assert capsys.readouterr().err == f"leakscape: {plan}: File exists.\n"
