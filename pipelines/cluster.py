"""A plan's graph as the pipeline that a cluster runs.

The graph's tasks stand in an exit handler, each where its place says. The preflight comes before all of them, the
finishing task after all of them whatever happened. Neither is ever taken from the cache, nor is the landscape: it reads
the history of audits, and a run's results are looked for in the run's own folder.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from leakscape.contract import spec
from pipelines import needs, pods
from pipelines.compose import Graph
from pipelines.parameters import LANDSCAPE, Contracts
from pipelines.placement import S3_VARIABLES, Place, place
from pipelines.tasks import add_tasks

if TYPE_CHECKING:
    from kfp.dsl.base_component import BaseComponent
    from kfp.dsl.pipeline_task import PipelineTask

PREFLIGHT, FINISH = "preflight", "finish"

REFRESH = "refresh"
"""The parameter whose value enters the cache key of the first step, and so of all that come after it."""


def pipeline_name(found: Graph) -> str:
    """The one name of a plan's pipeline: Kubeflow's cache is scoped by it."""
    return f"leakscape-{found.name}"


def build_for_cluster(found: Graph, contracts: Contracts, images: Mapping[str, str]) -> "BaseComponent":
    """Make the KFP pipeline of a graph for a cluster.

    Args:
        found: as `pipelines.audit.graph` gives it.
        contracts: the components' contracts by name.
        images: the image of each environment.
    """
    from kfp import dsl

    places = {step.id: place(found.placement, spec(contracts[step.component]), step.parameters) for step in found.steps}
    first, last = _place_first(found, contracts, places), _place_last(found, contracts)
    parameters = [*_refresh(found), *pods.parameters(found.placement, [*places.values(), first, last])]

    alone = partial(_alone, contracts, images)

    def pipeline(*channels: object) -> None:
        values: dict[str, Any] = dict(zip([parameter.name for parameter in parameters], channels, strict=True))
        with dsl.ExitHandler(alone(FINISH, needs.of_finish(found), last, values), name="audit"):
            looked = alone(PREFLIGHT, needs.of_preflight(found, places), first, values)
            replaced = {REFRESH: values[REFRESH]} if REFRESH in values else {}
            tasks = add_tasks(found, contracts, images, replaced=replaced)
            for step in found.steps:
                pods.apply(tasks[step.id], places[step.id], values)
                if step.component == LANDSCAPE:
                    tasks[step.id].set_caching_options(enable_caching=False)
                if not step.needs:
                    tasks[step.id].after(looked)

    pipeline.__doc__ = _docstring(found, parameters)
    pipeline.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    made: BaseComponent = dsl.pipeline(name=pipeline_name(found), description=found.description)(pipeline)
    return made


def _alone(  # noqa: PLR0917 - the first two are bound once
    contracts: Contracts,
    images: Mapping[str, str],
    name: str,
    given: Mapping[str, Any],
    where: Place,
    values: Mapping[str, Any],
) -> "PipelineTask":
    """A task that is no step of the graph: it runs each time, for what it looks at may have changed."""
    from leakscape.kubeflow import kfp_component

    contract = contracts[name]
    task = kfp_component(contract, image=images[spec(contract).image])(**given)
    pods.apply(task, where, values)
    return task.set_caching_options(enable_caching=False)


def _place_first(found: Graph, contracts: Contracts, places: Mapping[str, Place]) -> Place:
    """The preflight looks from where the most demanding step will run, with every credential that a step gets."""
    largest = needs.most_demanding(places.values())
    where = place(found.placement, spec(contracts[PREFLIGHT]), {}, devices=largest.accelerators)
    own = found.placement.steps.get(PREFLIGHT)
    pool = largest.pool if where.accelerators and not (own and own.pool) else where.pool
    return replace(where, pool=pool, accelerator=largest.accelerator, secrets=needs.all_secrets(places.values()))


def _place_last(found: Graph, contracts: Contracts) -> Place:
    given = needs.of_finish(found)
    where = place(found.placement, spec(contracts[FINISH]), {}, devices=0)
    return replace(where, secrets={"s3": S3_VARIABLES} if given["places"] else {})


def _docstring(found: Graph, parameters: Sequence[inspect.Parameter]) -> str:
    """KFP takes the descriptions of a pipeline's parameters from it."""
    words = {REFRESH: "Any text; a new one makes every step run again, though nothing else has changed."}
    lines = [f"    {one.name}: {words.get(one.name) or pods.describe(one.name)}" for one in parameters]
    return "\n".join([found.description or found.name, "", "Args:", *lines]) + "\n"


def _refresh(found: Graph) -> list[inspect.Parameter]:
    known = [step.parameters[REFRESH] for step in found.steps if REFRESH in step.parameters]
    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [inspect.Parameter(REFRESH, keyword, annotation=str, default=known[0])] if known else []
