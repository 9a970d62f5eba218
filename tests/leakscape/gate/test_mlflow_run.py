"""MLflow's own client against its file store, read back by MLflow."""

from pathlib import Path

import pytest
from gate_fakes import SMALL, held, verdict

from leakscape.errors import InputError
from leakscape.gate.ways_out import properties
from leakscape.gate.ways_out.mlflow_run import write_run


@pytest.fixture
def uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return f"file://{tmp_path}/mlruns"


def write(uri: str, file: Path, condition: str = "direct") -> str:
    found = verdict(held("failed"))
    return write_run(
        properties.figures(SMALL, "tiny", condition),
        properties.facts(SMALL, found, "tiny", condition),
        uri=uri,
        experiment="notes",
        files=[file],
    )


def test_a_run_holds_figures_facts_and_files(uri: str, tmp_path: Path):
    from mlflow.tracking import MlflowClient

    (tmp_path / "verdict.md").write_text("failed\n", encoding="utf-8")
    run = MlflowClient(uri).get_run(write(uri, tmp_path / "verdict.md"))
    assert run.data.metrics["leakscape.exposure_bits.high"] == 6.8
    assert len(run.data.metrics) == 9
    assert run.data.tags["leakscape.gate"] == "failed"
    assert run.data.tags["leakscape.landscape"] == "ab" * 32
    assert run.info.status == "FINISHED"
    assert [item.path for item in MlflowClient(uri).list_artifacts(run.info.run_id)] == ["verdict.md"]


def test_a_run_is_made_once_for_each_condition(uri: str, tmp_path: Path):
    (tmp_path / "verdict.md").write_text("failed\n", encoding="utf-8")
    first = write(uri, tmp_path / "verdict.md")
    assert write(uri, tmp_path / "verdict.md") == first
    assert write(uri, tmp_path / "verdict.md", "dp-8") != first


def test_a_server_of_no_kind_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="MLflow refused the run"):
        write("frobnicate://nowhere", tmp_path / "verdict.md")
