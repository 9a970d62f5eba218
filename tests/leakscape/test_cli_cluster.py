"""The commands for a cluster, from the command line to the server and back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kfp_server
import pytest
import yaml
from plan_fakes import PUSHED

from leakscape import cli

SMALL = """\
schema: leakscape/plan/1
name: small
targets:
  - model: leakscape/tiny
conditions:
  - name: none
"""


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[kfp_server.Kubeflow]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KF_PIPELINES_ENDPOINT", raising=False)
    (tmp_path / "small.yaml").write_text(SMALL, encoding="utf-8")
    entries = {
        name: dict(zip(("repository", "digest"), image.split("@"), strict=True)) for name, image in PUSHED.items()
    }
    (tmp_path / "digests.yaml").write_text(yaml.safe_dump({"images": entries}), encoding="utf-8")
    with kfp_server.running() as found:
        monkeypatch.setenv("LEAKSCAPE_KFP_ENDPOINT", found.endpoint)
        yield found


PLAN = ("small.yaml", "--images", "digests.yaml")


def test_submitting_twice_makes_two_runs_of_one_version(
    server: kfp_server.Kubeflow, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["submit", *PLAN]) == 0
    assert cli.main(["submit", *PLAN, "--json", "--refresh", "now"]) == 0
    first, *told = capsys.readouterr().out.splitlines()
    second = json.loads("\n".join(told))
    assert [first, second["run"]] == list(server.runs)
    assert [len(kept) for kept in (server.pipelines, server.versions, server.experiments)] == [1, 1, 1]
    assert [run["runtime_config"]["parameters"] for run in server.runs.values()] == [{}, {"refresh": "now"}]


def test_a_submitted_run_is_waited_for(
    server: kfp_server.Kubeflow, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    create = server.add

    def ended(kind: str, prefix: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401
        details = {"task_details": [{"display_name": "enforce", "state": "FAILED"}]}
        late = {"state": "FAILED", "run_details": details} if kind == "runs" else {}
        return create(kind, prefix, **{**values, **late})

    monkeypatch.setattr(server, "add", ended)
    assert cli.main(["submit", *PLAN, "--wait"]) == 3
    assert capsys.readouterr().out.endswith("  failed\n")


def test_scheduling_twice_changes_nothing(server: kfp_server.Kubeflow, capsys: pytest.CaptureFixture[str]):
    command = ["schedule", *PLAN, "--cron", "0 0 3 * * *", "--param", "cpu_pool={pool: spare}"]
    assert cli.main(command) == 0
    before = list(server.changes)
    assert cli.main(command) == 0
    assert server.changes == before
    assert cli.main([*command, "--disable"]) == 0
    assert capsys.readouterr().out == "created cli-small\nunchanged cli-small\ndisabled cli-small\n"
    (made,) = server.recurring.values()
    assert made["runtime_config"]["parameters"] == {"cpu_pool": {"pool": "spare"}}


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["schedule", *PLAN, "--cron", "0 3 * * *"], "six fields"),
        (["submit", *PLAN, "--param", "cpu_pool"], "write it as NAME=VALUE"),
        (["submit", *PLAN, "--param", "gpu_pool={}"], "has no parameter gpu_pool"),
        (["submit", "nowhere.yaml"], "neither a file nor the name of a packaged plan"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_sent(
    server: kfp_server.Kubeflow, capsys: pytest.CaptureFixture[str], argv: list[str], words: str
):
    assert cli.main(argv) == 2
    assert words in capsys.readouterr().err
    assert server.requests == []


def test_runs_are_listed(server: kfp_server.Kubeflow, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["submit", *PLAN, "--run-name", "before the release"]) == 0
    capsys.readouterr()
    assert cli.main(["runs", "--plan", "small"]) == 0
    (run,) = server.runs
    assert capsys.readouterr().out.split() == [
        run, "pending", server.runs[run]["created_at"].rstrip("Z"), "leakscape-small", "before", "the", "release",
    ]  # fmt: skip
    assert cli.main(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "before the release"


def test_a_run_that_is_not_there_can_not_be_fetched(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["fetch", "run-7", "--root", "s3://bucket"]) == 2
    assert "has no such thing (404, get run)" in capsys.readouterr().err


def test_registering_checks_or_applies(server: kfp_server.Kubeflow, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    listed = [{"name": "nightly", "plan": str(tmp_path / "small.yaml"), "schedule": {"cron": "0 0 3 * * *"}}]
    content = {"schema": "leakscape/registrations/1", "owner": "team", "images": PUSHED, "registrations": listed}
    (tmp_path / "registrations.yaml").write_text(json.dumps(content), encoding="utf-8")
    assert cli.main(["register", "registrations.yaml", "--check"]) == 0
    assert server.requests == []
    for _ in range(2):
        assert cli.main(["register", "registrations.yaml"]) == 0
    assert capsys.readouterr().out == "1 registrations fit.\ncreated nightly\nunchanged nightly\n"


@pytest.mark.parametrize(("status", "code"), [(401, 2), (403, 2), (503, 75)])
def test_refusals_and_absence_differ_in_the_exit_code(server: kfp_server.Kubeflow, status: int, code: int):
    server.failures = [status] * 9
    assert cli.main(["runs"]) == code
