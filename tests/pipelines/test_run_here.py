"""Placing results and exit codes; the run itself is tested in tests/leakscape/local."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from plan_fakes import CONTRACTS, PLAN

from leakscape import local
from leakscape.errors import InputError
from leakscape.local import Outcome, State, Step
from pipelines import audit, source
from pipelines.compose import Graph
from pipelines.plan import check

if TYPE_CHECKING:
    from kfp.dsl.graph_component import GraphComponent

Run = Callable[..., Outcome]


@pytest.fixture
def graph() -> Graph:
    return audit.graph(check(source.parse(PLAN, name="p.yaml"), contracts=CONTRACTS), CONTRACTS)


def ended(exit_code: int) -> Run:
    """A run whose landscape step wrote what the real one writes, or failed."""

    def run(pipeline: "GraphComponent", *, out: Path, store: Path) -> Outcome:
        assert pipeline.pipeline_spec.pipeline_info.name == "leakscape-small"
        folder = out / "artifacts" / "landscape"
        (folder / "landscape").mkdir(parents=True)
        (folder / "landscape" / "landscape.json").write_text("{}", encoding="utf-8")
        (folder / "report").write_text("<html>", encoding="utf-8")
        (folder / "verdict").mkdir()
        (folder / "verdict" / "verdict.json").write_text("{}", encoding="utf-8")
        states = [State.REUSED, State.DONE, State.FAILED if exit_code else State.DONE]
        step = Step(task="landscape", title="landscape", component="landscape", folder=folder, log=out / "log")
        steps = tuple(Step(**{**vars(step), "state": state}) for state in states)
        store.mkdir()
        return Outcome(steps, exit_code)

    return run


def test_results_lie_at_the_top(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local, "run", ended(0))
    result = audit.run_here(graph, CONTRACTS, out=tmp_path / "out", store=tmp_path / "store")
    assert (result.exit_code, result.ran, result.reused) == (0, 2, 1)
    assert result.files == {name: tmp_path / "out" / name for name in audit.RESULTS}
    assert result.files["report.html"].read_text(encoding="utf-8") == "<html>"


def test_a_gate_that_failed_leaves_all_results(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local, "run", ended(3))
    result = audit.run_here(graph, CONTRACTS, out=tmp_path, store=tmp_path / "store")
    assert (result.exit_code, set(result.files)) == (3, set(audit.RESULTS))
    assert (tmp_path / "verdict.json").exists()


def test_a_failed_run_leaves_no_results_of_the_one_before(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "report.html").write_text("old", encoding="utf-8")
    monkeypatch.setattr(local, "run", ended(75))
    result = audit.run_here(graph, CONTRACTS, out=tmp_path, store=tmp_path / "store")
    assert (result.exit_code, result.files) == (75, {})
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(("error", "kept"), [(KeyboardInterrupt(), False), (InputError("in use"), True)])
def test_an_interrupted_run_leaves_none_and_a_refused_one_touches_nothing(
    error: BaseException, kept: bool, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def run(*_: object, **__: object) -> None:
        raise error

    (tmp_path / "report.html").write_text("old", encoding="utf-8")
    monkeypatch.setattr(local, "run", run)
    with pytest.raises(type(error)):
        audit.run_here(graph, CONTRACTS, out=tmp_path, store=tmp_path / "store")
    assert (tmp_path / "report.html").exists() is kept
