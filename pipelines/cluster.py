"""A plan's graph as the pipeline that a cluster runs: placed, and with a value that makes everything run anew."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leakscape.contract import spec
from pipelines import pods
from pipelines.compose import Graph, Step
from pipelines.parameters import Contracts
from pipelines.placement import Place, place
from pipelines.tasks import add_tasks

if TYPE_CHECKING:
    from kfp.dsl.base_component import BaseComponent

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

    places = {step.id: _place(found, step, contracts) for step in found.steps}
    parameters = [*_refresh(found), *pods.parameters(found.placement, places.values())]

    def pipeline(*channels: object) -> None:
        values: dict[str, Any] = dict(zip([parameter.name for parameter in parameters], channels, strict=True))
        replaced = {REFRESH: values[REFRESH]} if REFRESH in values else {}
        for name, task in add_tasks(found, contracts, images, replaced=replaced).items():
            pods.apply(task, places[name], values)

    pipeline.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    made: BaseComponent = dsl.pipeline(name=pipeline_name(found), description=found.description)(pipeline)
    return made


def _place(found: Graph, step: Step, contracts: Contracts) -> Place:
    return place(found.placement, spec(contracts[step.component]), step.parameters)


def _refresh(found: Graph) -> list[inspect.Parameter]:
    known = [step.parameters[REFRESH] for step in found.steps if REFRESH in step.parameters]
    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [inspect.Parameter(REFRESH, keyword, annotation=str, default=known[0])] if known else []
