"""A graph's steps as tasks of a Kubeflow pipeline under construction."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leakscape.contract import Spec, spec
from pipelines.compose import Graph, Ref, Step
from pipelines.parameters import Contracts

if TYPE_CHECKING:
    from kfp.dsl.pipeline_task import PipelineTask


def add_tasks(
    found: Graph, contracts: Contracts, images: Mapping[str, str], *, replaced: Mapping[str, Any] | None = None
) -> dict[str, "PipelineTask"]:
    """Add one task for each step, and give them by the step's id.

    Args:
        found: the graph.
        contracts: the components' contracts by name.
        images: the image of each environment.
        replaced: values that take the place of the graph's own for parameters of these names, such as a parameter of
            the pipeline.
    """
    from leakscape.kubeflow import kfp_component

    tasks: dict[str, PipelineTask] = {}
    for step in found.steps:
        contract = contracts[step.component]
        of_step = spec(contract)
        component = kfp_component(contract, image=images[of_step.image], counts=_counts(of_step, step))
        own = {name: value for name, value in (replaced or {}).items() if name in step.parameters}
        task = component(**{**step.parameters, **own}, **_artifacts(of_step, step, tasks))
        tasks[step.id] = task.set_display_name(step.title)
    return tasks


def _counts(of_step: Spec, step: Step) -> dict[str, int]:
    many = [field.name for field in of_step.inputs if getattr(field.role, "many", False)]
    return {name: len(step.inputs[name]) for name in many}


def _artifacts(of_step: Spec, step: Step, tasks: Mapping[str, "PipelineTask"]) -> dict[str, Any]:
    """The outputs of earlier tasks, under the names that KFP gives the inputs of this one."""
    from leakscape.kubeflow import input_names

    given: dict[str, Ref] = {}
    for field in of_step.inputs:
        refs = step.inputs[field.name]
        given.update(zip(input_names(field, len(refs)), refs, strict=True))
    return {name: tasks[ref.step].outputs[ref.output] for name, ref in given.items()}
