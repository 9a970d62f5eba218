import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BASE = "python:3.11-slim-bookworm@sha256:" + "3" * 64
VALUES = {"SOURCE_DATE_EPOCH": "1700000000", "VERSION": "1.0"}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    made = importlib.util.spec_from_file_location("images_tool", ROOT / "tools" / "images.py")
    assert made
    assert made.loader
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


@pytest.mark.parametrize("base", ["", "python:3.11-slim-bookworm", "python@sha256:12"])
def test_a_base_image_without_a_digest_is_refused(tool: ModuleType, base: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        tool.parse(["--base-image", base])
    assert ended.value.code == 2
    assert "names no digest" in capsys.readouterr().err


def test_a_base_image_that_was_made_here_needs_none(tool: ModuleType):
    assert tool.parse(["--base-image", "localhost/base:1"]).names == []


def test_unknown_images_are_named(tool: ModuleType, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        tool.parse(["--base-image", BASE, "bass"])
    assert "there is no image bass; there are base, train, rewrite, evaluate, cli." in capsys.readouterr().err


def test_an_image_is_built_up_to_the_stage_that_was_tested(tool: ModuleType, tmp_path: Path):
    given = tool.parse(["--base-image", BASE, "--builder=podman", "--wheels", str(tmp_path), "--option=--pull=never"])
    command = tool.build_command("train", "r.example/train:dev", given, VALUES)
    assert command[:2] == ["podman", "build"]
    assert command[command.index("--target") + 1] == "final"
    assert command[command.index("--timestamp") + 1] == "1700000000"
    assert f"{tmp_path}:/wheels:ro" in command
    built = {command[place + 1] for place, word in enumerate(command) if word == "--build-arg"}
    assert {f"BASE_IMAGE={BASE}", "ACCELERATOR=cuda", "PIP_NO_INDEX=1", "VERSION=1.0"} <= built
    assert command[-2:] == ["--pull=never", "."]


def test_labels_state_the_commit_and_its_date(tool: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setattr(tool, "output_of", lambda *command: "" if "status" in command else "abc")
    found = tool.facts("https://source.example")
    assert found["CREATED"] == "2023-11-14T22:13:20Z"
    assert (found["REVISION"], found["SOURCE"]) == ("abc", "https://source.example")
    monkeypatch.setattr(tool, "output_of", lambda *command: " M a.py" if "status" in command else "abc")
    assert tool.facts("")["REVISION"] == "abc-changed"
