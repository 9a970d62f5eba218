"""Places applied to the tasks of a Kubeflow pipeline, and the pipeline's parameters that stand behind them.

A pool is two parameters, `NAME_pool` (node labels) and `NAME_tolerations`; `s3_secret`, `hub_secret`, `api_secret` and
`image_pull_secret` name secrets. Only those that a step uses are there. They hold what the plan says unless a run says
otherwise. Accelerators, CPUs and memory are fixed when the pipeline is compiled: Kubeflow does not hand parameters of
theirs into an exit handler's group (kfp 2.17.3).
"""

import inspect
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pipelines.placement import HUB_VARIABLE, S3_VARIABLES, Place, Placement

if TYPE_CHECKING:
    from kfp.dsl.pipeline_task import PipelineTask

SCRATCH = "/scratch"
"""Where a step may write besides its artifacts; the images point temporary files and caches there."""

LABELS = {"app.kubernetes.io/part-of": "leakscape", "app.kubernetes.io/component": "step"}
"""By these, network policies and quotas of the cluster know the steps' pods; see charts/leakscape."""

_SECRETS = {
    "s3_secret": f"Name of the secret with {', '.join(S3_VARIABLES)}; it need not exist.",
    "hub_secret": f"Name of the secret with {HUB_VARIABLE}; it need not exist.",
    "api_secret": "Name of the secret with the credentials of endpoints, under the names of their variables.",
    "image_pull_secret": "Name of the private registry's secret.",
}
_SHM = "/dev/shm"  # noqa: S108 - the mount point itself
_BACKOFF = {"backoff_duration": "60s", "backoff_factor": 2.0, "backoff_max_duration": "3600s"}


def parameters(placement: Placement, places: Iterable[Place]) -> list[inspect.Parameter]:
    """The pipeline's parameters that the places of its steps need, with the plan's values as defaults."""
    used = list(places)
    found: dict[str, tuple[type, Any]] = {}
    for name in placement.pool_names:
        if any(place.pool == name for place in used):
            pool = placement.pool(name)
            found[_pool(name)] = dict, dict(pool.selector)
            found[_tolerations(name)] = list, [toleration.plain for toleration in pool.tolerations]
    names = placement.secrets.model_dump()
    for kind, default in names.items():
        if any(kind in place.secrets for place in used) and default:
            found[_secret(kind)] = str, default
    if placement.image_pull_secret:
        found["image_pull_secret"] = str, placement.image_pull_secret
    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(name, keyword, annotation=kind, default=default) for name, (kind, default) in found.items()
    ]


def describe(parameter: str) -> str:
    """A sentence about a parameter of `parameters`, for the form of a new run."""
    if parameter.endswith("_pool"):
        return f"Labels of the nodes of the pool {parameter.removesuffix('_pool')}."
    if parameter.endswith("_tolerations"):
        return f"Taints of the pool {parameter.removesuffix('_tolerations')} that its pods tolerate."
    return _SECRETS[parameter]


def apply(task: "PipelineTask", place: Place, values: Mapping[str, Any]) -> None:
    """Put a task where its place says.

    Args:
        task: of the pipeline being built.
        place: of the step.
        values: the pipeline's parameters, by the names of `parameters`.
    """
    from kfp import kubernetes

    task.set_cpu_request(place.cpu).set_cpu_limit(place.cpu)
    task.set_memory_request(place.memory).set_memory_limit(place.memory)
    if place.accelerators:
        task.set_accelerator_type(place.accelerator).set_accelerator_limit(place.accelerators)
    if place.retries:
        task.set_retry(place.retries, **_BACKOFF)
    for name, value in place.environment.items():
        task.set_env_variable(name, value)
    for name, value in LABELS.items():
        kubernetes.add_pod_label(task, name, value)
    _schedule(task, place, values)
    _mount(task, place)
    _hand_secrets(task, place, values)


def _schedule(task: "PipelineTask", place: Place, values: Mapping[str, Any]) -> None:
    from kfp import kubernetes

    kubernetes.add_node_selector_json(task, values[_pool(place.pool)])
    kubernetes.add_toleration_json(task, values[_tolerations(place.pool)])
    if place.timeout:
        kubernetes.set_timeout(task, place.timeout)
    if "image_pull_secret" in values:
        kubernetes.set_image_pull_secrets(task, [values["image_pull_secret"]])


def _mount(task: "PipelineTask", place: Place) -> None:
    from kfp import kubernetes

    if place.shm:
        kubernetes.empty_dir_mount(task, volume_name="shm", mount_path=_SHM, medium="Memory", size_limit=place.shm)
    if place.scratch:
        kubernetes.empty_dir_mount(task, volume_name="scratch", mount_path=SCRATCH, size_limit=place.scratch)


def _hand_secrets(task: "PipelineTask", place: Place, values: Mapping[str, Any]) -> None:
    from kfp import kubernetes

    for kind, variables in place.secrets.items():
        if _secret(kind) in values:
            keys = {variable: variable for variable in variables}
            kubernetes.use_secret_as_env(task, values[_secret(kind)], keys, optional=True)


def _pool(name: str) -> str:
    return f"{name.replace('-', '_')}_pool"


def _tolerations(name: str) -> str:
    return f"{name.replace('-', '_')}_tolerations"


def _secret(kind: str) -> str:
    return f"{kind}_secret"
