from pathlib import Path

import pytest
from gate_fakes import held, verdict

from components.enforce.contract import Enforce
from components.enforce.run import run
from leakscape import artifacts, schemas
from leakscape.artifacts import Provenance
from leakscape.entrypoint import run_component
from leakscape.errors import GateError
from leakscape.landscape.verdict import FILE, Verdict


def store(path: Path, found: Verdict) -> Path:
    with artifacts.create(path, schema=schemas.VERDICT, provenance=Provenance(component="landscape")) as folder:
        folder.write_json(FILE, found)
    return path


def test_a_verdict_that_passed_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run(Enforce(verdict=store(tmp_path / "v", verdict(held("passed"), notes=["Mind this."])), published=tmp_path))
    shown = capsys.readouterr().err
    assert "small: the gate passed, 1 rule." in shown
    assert "Mind this." in shown


def test_a_verdict_that_failed_fails_the_step_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = store(tmp_path / "v", verdict(held("failed")))
    with pytest.raises(GateError, match="the gate failed, 1 of 1 rule"):
        run(Enforce(verdict=path, published=tmp_path))
    assert run_component("enforce", ["--verdict", str(path), "--published", str(tmp_path)]) == 3
    assert "6.8 is not at most 3." in capsys.readouterr().err
