"""The audit: a plan's graph as a pipeline, written for Kubeflow or run here."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leakscape.contract import Spec, spec
from leakscape.errors import EXIT_DONE, EXIT_GATE, InputError, PlanError
from pipelines.cluster import build_for_cluster, pipeline_name
from pipelines.compose import Graph, compose
from pipelines.images import images
from pipelines.parameters import LANDSCAPE, Contracts
from pipelines.schema import Plan
from pipelines.tasks import add_tasks

if TYPE_CHECKING:
    from kfp.dsl.base_component import BaseComponent

    from leakscape.local import Outcome

# What a user looks for, by the name it gets at the top of an audit's folder: the landscape step's output and the file
# in it ('' if the output is a file itself).
RESULTS = {
    "landscape.json": ("landscape", "landscape.json"),
    "report.html": ("report", ""),
    "verdict.json": ("verdict", "verdict.json"),
}


@dataclass(frozen=True)
class Result:
    """How an audit ended.

    Args:
        exit_code: 0, or that of the step that failed.
        ran: how many steps did their work.
        reused: how many were taken from an earlier run.
        files: the results at the top of the audit's folder, by the names of `RESULTS`; none after a failure other than
            the gate's.
    """

    exit_code: int
    ran: int
    reused: int
    files: dict[str, Path]


def graph(plan: Plan, contracts: Contracts) -> Graph:
    """Compose a plan, with the digest of the data outside that it reads.

    A plan that states `population.content_hash` itself is taken at its word: its data need not lie on this machine.

    Raises:
        PlanError: the population's source needs a path and none is given, or its data are elsewhere and not pinned.
        InputError: nothing lies at the path.
    """
    path, source = plan.population.get("path", ""), plan.population.get("source", "builtin")
    if source != "builtin" and not path:
        raise PlanError(f"the population's source {source} needs a path: add --set population.path=PATH.")
    if not path or plan.population.get("content_hash"):
        return compose(plan, contracts)
    if "://" in path:
        raise PlanError(
            "the population's data are not on this machine: pin them by population.content_hash, the SHA-256 of the "
            "file, or the one that the manifest of a population drawn from them states."
        )
    from leakscape.records.outside import content_hash

    return compose(plan, contracts, content_hash=content_hash(Path(path)))


def build(found: Graph, contracts: Contracts, names: Mapping[str, str] | None = None) -> "BaseComponent":
    """Make the KFP pipeline of a graph as it runs here: one task a step, and nothing about where on a cluster.

    Args:
        found: as `graph` gives it.
        contracts: the components' contracts by name.
        names: the image of each environment; those of this installation by default, whether pushed or not.
    """
    from kfp import dsl

    def pipeline() -> None:
        add_tasks(found, contracts, images(dev=True) if names is None else names)

    made: BaseComponent = dsl.pipeline(name=pipeline_name(found), description=found.description)(pipeline)
    return made


def compile_to(found: Graph, contracts: Contracts, path: Path, names: Mapping[str, str]) -> None:
    """Write a graph as the YAML that Kubeflow runs, or leave what stood at `path`.

    Args:
        found: as `graph` gives it.
        contracts: the components' contracts by name.
        path: the file.
        names: the image of each environment, as `images` gives them.

    Raises:
        PlanError: the file can't be written.
    """
    from kfp.compiler import Compiler

    pipeline = build_for_cluster(found, contracts, names)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as beside:
            made = Path(beside) / path.name
            Compiler().compile(pipeline, str(made))
            made.replace(path)
    except OSError as error:
        raise PlanError(f"{path} can't be written: {error.strerror}.") from None


def run_here(found: Graph, contracts: Contracts, *, out: Path, store: Path) -> Result:
    """Run a graph on this machine and put its results at the top of `out`.

    Results of an earlier run are removed unless this one replaces them: a report always fits the artifacts beside it.

    Args:
        found: as `graph` gives it.
        contracts: the components' contracts by name.
        out: the audit's folder.
        store: the folder of finished steps, which later runs take from.

    Raises:
        InputError: another run uses `out`, or it holds folders that no run has made.
    """
    from leakscape.local import State, run

    pipeline = build(found, contracts)
    try:
        outcome = run(pipeline, out=out, store=store)
    except (InputError, OSError):
        raise
    except BaseException:
        _remove_results(out)
        raise
    states = [step.state for step in outcome.steps]
    files = _place_results(outcome, spec(contracts[LANDSCAPE]), out)
    return Result(outcome.exit_code, states.count(State.DONE), states.count(State.REUSED), files)


def _place_results(outcome: "Outcome", of_step: Spec, out: Path) -> dict[str, Path]:
    _remove_results(out)
    outputs = {field.name for field in of_step.outputs}
    files: dict[str, Path] = {}
    for name, (output, inside) in RESULTS.items():
        if outcome.exit_code not in (EXIT_DONE, EXIT_GATE) or output not in outputs:
            continue
        shutil.copyfile(outcome.artifact(LANDSCAPE, output) / inside, out / name)
        files[name] = out / name
    return files


def _remove_results(out: Path) -> None:
    for name in RESULTS:
        (out / name).unlink(missing_ok=True)
