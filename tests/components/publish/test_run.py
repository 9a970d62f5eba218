# ruff: noqa: ANN401 - settings of a contract

from pathlib import Path
from typing import Any

import pytest
from gate_fakes import SMALL, held, verdict
from junitparser import JUnitXml

from components.publish.contract import Publish
from components.publish.run import run
from leakscape import artifacts, schemas
from leakscape.artifacts import Provenance
from leakscape.errors import ArtifactError, InputError
from leakscape.gate import history
from leakscape.gate.history import Entry
from leakscape.landscape.schema import FILE as LANDSCAPE
from leakscape.landscape.verdict import ENTRIES, FILE, Verdict
from leakscape.storage import open_place

ENTRY = Entry(
    schema=history.SCHEMA, plan="small", target="tiny", audit="", date="", passed=False, figures={}, canaries="c",
    held_out="h", scores={},
)  # fmt: skip


def contract(tmp_path: Path, *, landscape: str = "", name: str = "1", **settings: Any) -> Publish:
    made = Provenance(component="landscape")
    if not (tmp_path / "landscape").exists():
        with artifacts.create(tmp_path / "landscape", schema=schemas.LANDSCAPE, provenance=made) as folder:
            folder.write_json(LANDSCAPE, SMALL)
    digest = landscape or artifacts.read_manifest(tmp_path / "landscape").digest
    found: Verdict = verdict(held("failed"), landscape=digest)
    with artifacts.create(tmp_path / name / "verdict", schema=schemas.VERDICT, provenance=made) as folder:
        folder.write_json(FILE, found)
        folder.write_rows(ENTRIES, [{**ENTRY.__dict__, "audit": digest}])
    return Publish(
        landscape=tmp_path / "landscape",
        verdict=tmp_path / name / "verdict",
        published=tmp_path / name / "published",
        summary=tmp_path / name / "summary.md",
        **settings,
    )


def test_a_verdict_is_written_in_every_form(tmp_path: Path):
    run(contract(tmp_path))
    published = artifacts.load(tmp_path / "1" / "published", schema=schemas.PUBLISHED)
    assert set(published.manifest.files) == {"verdict.md", "verdict.junit.xml", "figures.openmetrics.txt"}
    (suite,) = JUnitXml.fromfile(str(published.file("verdict.junit.xml")))
    assert suite.failures == 1
    assert (tmp_path / "1" / "summary.md").read_bytes() == published.file("verdict.md").read_bytes()


def test_an_audit_is_published_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    place = str(tmp_path / "history")
    for name in ("1", "2"):
        run(contract(tmp_path, name=name, history=place))
    with open_place(place) as opened:
        (entry,) = history.entries(opened, "small", "tiny")
    assert entry.date.endswith("+00:00")
    assert entry.audit == artifacts.read_manifest(tmp_path / "landscape").digest
    shown = capsys.readouterr().err
    assert shown.index("added to the history") < shown.index("in the history already")
    one, other = (artifacts.read_manifest(tmp_path / name / "published").digest for name in ("1", "2"))
    assert one == other


def test_a_verdict_on_another_landscape_is_refused(tmp_path: Path):
    with pytest.raises(ArtifactError, match="is the verdict on another landscape"):
        run(contract(tmp_path, landscape="ff" * 32, history=str(tmp_path / "history")))
    assert not (tmp_path / "history").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mlflow": "http://127.0.0.1:1"}, "--condition must name"),
        ({"registry": "http://127.0.0.1:1", "condition": "direct"}, "--registry needs"),
        ({"condition": "gone"}, "the landscape has no condition gone of tiny"),
        ({"condition": "direct", "target": "other"}, "no condition direct of other"),
    ],
)
def test_what_goes_to_a_service_must_be_named(tmp_path: Path, settings: dict[str, str], words: str):
    with pytest.raises(InputError, match=words):
        run(contract(tmp_path, history=str(tmp_path / "history"), **settings))
    assert not (tmp_path / "history").exists()
    assert not (tmp_path / "1" / "published").exists()


def test_a_condition_goes_to_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from mlflow.tracking import MlflowClient

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = f"file://{tmp_path}/mlruns"
    run(contract(tmp_path, mlflow=uri, condition="dp-8"))
    client = MlflowClient(uri)
    place = client.get_experiment_by_name("leakscape")
    assert place is not None
    (made,) = client.search_runs([place.experiment_id])
    assert made.data.metrics["leakscape.exposure_bits"] == 1.6
    assert {item.path for item in client.list_artifacts(made.info.run_id)} == {"landscape.json", "verdict.md"}
