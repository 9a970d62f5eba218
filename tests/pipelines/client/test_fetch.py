"""Results fetched from a pipeline root laid out as KFP's launcher lays it out."""

from pathlib import Path
from typing import Any

import kfp_server
import pytest

from leakscape import artifacts
from leakscape.errors import ArtifactError, InputError
from pipelines.client.connection import Connection
from pipelines.client.fetch import results


@pytest.fixture
def run(server: kfp_server.Kubeflow) -> dict[str, Any]:
    pipeline = server.add("pipelines", "pipeline", display_name="leakscape-small")
    reference = {"pipeline_id": pipeline["pipeline_id"]}
    return server.add("runs", "run", state="SUCCEEDED", pipeline_version_reference=reference, runtime_config={})


def lay_out(root: Path, run: dict[str, Any], *, attempt: str = "e1") -> Path:
    place = root / "leakscape-small" / run["run_id"] / "landscape" / attempt
    for name in ("landscape", "verdict"):
        with artifacts.create(place / name, schema=f"leakscape/{name}/1", provenance=artifacts.Provenance()) as folder:
            folder.write_json(f"{name}.json", {"is": name})
            (folder.path / "tables").mkdir()
            (folder.path / "tables" / "a.csv").write_text("1\n", encoding="utf-8")
    (place / "report").write_text("<html></html>", encoding="utf-8")
    return place


def test_results_come_home(connection: Connection, run: dict[str, Any], tmp_path: Path):
    lay_out(tmp_path / "root", run)
    found = results(connection, run["run_id"], tmp_path / "out", {}, root=str(tmp_path / "root"))
    assert sorted(path.name for path in found) == ["landscape.json", "report.html", "verdict.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(path.name for path in found)
    assert (tmp_path / "out" / "landscape.json").read_text(encoding="utf-8") == '{\n  "is": "landscape"\n}\n'
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == "<html></html>"


def test_the_root_is_the_runs_own_before_any_other(connection: Connection, run: dict[str, Any], tmp_path: Path):
    lay_out(tmp_path / "own", run)
    run["runtime_config"] = {"pipeline_root": str(tmp_path / "own")}
    environment = {"LEAKSCAPE_PIPELINE_ROOT": str(tmp_path / "other")}
    assert len(results(connection, run["run_id"], tmp_path / "out", environment)) == 3


def test_changed_bytes_are_refused_and_nothing_is_left(connection: Connection, run: dict[str, Any], tmp_path: Path):
    place = lay_out(tmp_path / "root", run)
    (place / "verdict" / "verdict.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"verdict\.json has changed"):
        results(connection, run["run_id"], tmp_path / "out", {}, root=str(tmp_path / "root"))
    assert list((tmp_path / "out").iterdir()) == []


def test_what_can_not_be_fetched_says_why(connection: Connection, run: dict[str, Any], tmp_path: Path):
    with pytest.raises(InputError, match=r"names no pipeline root: give --root"):
        results(connection, run["run_id"], tmp_path / "out", {})
    with pytest.raises(InputError, match="holds no results"):
        results(connection, run["run_id"], tmp_path / "out", {}, root=str(tmp_path / "root"))
    with pytest.raises(InputError, match="has no such thing"):
        results(connection, "run-99", tmp_path / "out", {})
    lay_out(tmp_path / "root", run)
    lay_out(tmp_path / "root", run, attempt="e2")
    with pytest.raises(InputError, match="2 times"):
        results(connection, run["run_id"], tmp_path / "out", {}, root=str(tmp_path / "root"))
    run["state"] = "RUNNING"
    with pytest.raises(InputError, match="is running; fetch it when it has ended"):
        results(connection, run["run_id"], tmp_path / "out", {})
