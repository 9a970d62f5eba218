"""Where steps run on a cluster: node pools, accelerators, memory, secrets. A run on this machine ignores all of it.

What a plan leaves out has a default by what the step does. Pools and the names of secrets become parameters of the
pipeline, so that one compiled pipeline serves clusters that name them differently; see `pipelines.pods`.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from leakscape.contract import VARIABLE, Spec
from pipelines.faults import Fault, choose
from pipelines.strict import Strict

CPU, GPU = "cpu", "gpu"
TINY = "leakscape/tiny"

Cpu = Annotated[str, Field(pattern=r"^(?:[1-9][0-9]*m?)?$")]
Memory = Annotated[str, Field(pattern=r"^(?:[1-9][0-9]*(?:[KMGTPE]i?|k)?)?$")]
Name = Annotated[str, Field(pattern=r"^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)?$")]
Variable = Annotated[str, Field(pattern=rf"^{VARIABLE}$")]
PoolName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,29}$")]

# Settings by which a component with a model in its image works without one, and so without an accelerator.
_NO_MODEL = {"backend": ("rules", "openai"), "detector": ("rules", "presidio")}
_CREDENTIAL = re.compile(r"(?:(?<!KMS_)KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)(?:_ID)?$", re.IGNORECASE)
# Settings that say how many accelerators share the work.
_DEVICES = ("tensor_parallel", "processes")


class Toleration(Strict):
    """A taint that the pool's pods tolerate, in Kubernetes' words."""

    key: str = ""
    operator: Literal["Exists", "Equal"] = "Exists"
    value: str = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""

    @property
    def plain(self) -> dict[str, str]:
        """As Kubernetes takes it, what is not given left out."""
        return {name: value for name, value in self.model_dump().items() if value}


class Pool(Strict):
    """The nodes of a pool: those with these labels, whose taints are tolerated."""

    selector: dict[str, str] = Field(default_factory=dict)
    tolerations: list[Toleration] = Field(default_factory=list)


class Pod(Strict):
    """What one component's pods get; what is '' or 0 here is decided by what the step does.

    Args:
        pool: the name of a pool.
        cpu, memory: requested, and not exceeded, in Kubernetes' quantities.
        accelerator: its resource name.
        accelerators: how many; -1 for none.
        shm: size of /dev/shm, in memory; only where there is an accelerator unless given.
        scratch: size of the writable folder for models, caches and temporary files.
        retries: how often a failed step is tried again; -1 for never.
        timeout: seconds after which a step is stopped; 0 for never.
    """

    pool: str = ""
    cpu: Cpu = ""
    memory: Memory = ""
    accelerator: str = ""
    accelerators: Annotated[int, Field(ge=-1, le=64)] = 0
    shm: Memory = ""
    scratch: Memory = ""
    retries: Annotated[int, Field(ge=-1, le=20)] = 0
    timeout: Annotated[int, Field(ge=0, le=2_592_000)] = 0


class Secrets(Strict):
    """The names of Kubernetes secrets; one that does not exist is no fault where the service account suffices.

    Args:
        s3: holds AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, where needed, AWS_SESSION_TOKEN and
            AWS_ENDPOINT_URL_S3.
        hub: holds HF_TOKEN.
        api: holds the credentials of endpoints under the names of their variables, such as OPENAI_API_KEY.
    """

    s3: Name = "leakscape-s3"
    hub: Name = "leakscape-hub"
    api: Name = "leakscape-api"


class Placement(Strict):
    """Where the steps of a plan run on a cluster.

    Args:
        pools: by name; `cpu` and `gpu` are there without being named.
        steps: what the pods of a component get, by the component's name.
        secrets: where credentials come from.
        environment: variables of every pod, for all to read: AWS_REGION, HF_ENDPOINT, HF_HUB_OFFLINE.
        image_pull_secret: of a private registry; '' if the nodes or the service account have one.
        service_account: of the pods; '' for Kubeflow's own.
    """

    pools: dict[PoolName, Pool] = Field(default_factory=dict)
    steps: dict[str, Pod] = Field(default_factory=dict)
    secrets: Secrets = Field(default_factory=Secrets)
    environment: dict[Variable, str] = Field(default_factory=dict)
    image_pull_secret: Name = ""
    service_account: Name = ""

    def pool(self, name: str) -> Pool:
        """A pool by name.

        Raises:
            KeyError: there is none of that name.
        """
        return {**_POOLS, **self.pools}[name]

    @property
    def pool_names(self) -> list[str]:
        """All pools, those of every plan first."""
        return list({**_POOLS, **self.pools})


_POOLS = {
    CPU: Pool(),
    GPU: Pool(tolerations=[Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")]),
}

_ON_CPU = Pod(pool=CPU, cpu="2", memory="8Gi", scratch="20Gi", retries=2)
_ON_GPU = Pod(pool=GPU, cpu="8", memory="48Gi", accelerator="nvidia.com/gpu", shm="8Gi", scratch="100Gi", retries=2)
_OF_COMPONENT = {
    "landscape": Pod(cpu="4"),
    "enforce": Pod(cpu="1", memory="2Gi", retries=-1),  # a failed gate stays failed
    "preflight": Pod(cpu="1", memory="4Gi", scratch="20Gi", retries=1),
    "finish": Pod(cpu="1", memory="2Gi", scratch="1Gi"),
}


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where one step runs, everything decided; sizes are Kubernetes' quantities, '' for none.

    `secrets` are the environment variables that the step gets, by the kind of secret that they come from.
    """

    pool: str
    cpu: str
    memory: str
    accelerator: str
    accelerators: int
    shm: str
    scratch: str
    retries: int
    timeout: int
    environment: Mapping[str, str]
    secrets: Mapping[str, tuple[str, ...]]


def place(placement: Placement, found: Spec, parameters: Mapping[str, Any], *, devices: int | None = None) -> Place:
    """Decide where a step runs: what the plan says, else what the component needs.

    Args:
        placement: of the plan.
        found: the component's contract, read.
        parameters: of the step.
        devices: how many accelerators the step needs; by its parameters if left out.
    """
    own = placement.steps.get(found.name, Pod())
    needed = devices_of(found, parameters) if devices is None else devices
    count = own.accelerators or needed
    defaults = _ON_GPU if count > 0 else _ON_CPU
    whole = _over(_over(defaults, _OF_COMPONENT.get(found.name, Pod())), own)
    return Place(
        pool=whole.pool,
        cpu=whole.cpu,
        memory=whole.memory,
        accelerator=whole.accelerator if count > 0 else "",
        accelerators=max(count, 0),
        shm=whole.shm,
        scratch=whole.scratch,
        retries=max(whole.retries, 0),
        timeout=whole.timeout,
        environment=placement.environment,
        secrets=secrets_of(parameters),
    )


def _over(below: Pod, above: Pod) -> Pod:
    return below.model_copy(update={name: value for name, value in above.model_dump().items() if value})


def devices_of(found: Spec, parameters: Mapping[str, Any]) -> int:
    """How many accelerators a step asks for: none without a model of its own, or with the one that ships."""
    if found.image == "base" or works_without_model(parameters) or parameters.get("model") == TINY:
        return 0
    return max([1, *(int(parameters[name]) for name in _DEVICES if name in parameters)])


def works_without_model(parameters: Mapping[str, Any]) -> bool:
    """Whether a step loads no model although its component can."""
    return any(parameters.get(name) in values for name, values in _NO_MODEL.items())


def secrets_of(parameters: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The environment variables with credentials that a step may need, by kind of secret; no more than those."""
    found: dict[str, tuple[str, ...]] = {}
    if any(isinstance(value, str) and value.startswith("s3://") for value in parameters.values()):
        found["s3"] = S3_VARIABLES
    if parameters.get("backend") == "openai":
        found["api"] = (str(parameters.get("key_variable")),)
    elif from_hub(parameters.get("model")):
        found["hub"] = (HUB_VARIABLE,)
    services = [
        *((str(parameters.get("registry_token_variable")),) if parameters.get("registry") else ()),
        *(MLFLOW_VARIABLES if parameters.get("mlflow") else ()),
    ]
    if services:
        found["api"] = tuple(services)
    return found


# No region: a variable that stands there, though its secret does not, keeps EKS from giving a role's pods theirs.
S3_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3")
HUB_VARIABLE = "HF_TOKEN"
MLFLOW_VARIABLES = ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD")


def from_hub(model: object) -> bool:
    """Whether a model is named by its id at a hub: not the one that ships, and no path."""
    return isinstance(model, str) and bool(model) and model != TINY and not model.startswith(("/", ".", "~"))


def faults(placement: Placement, components: Collection[str]) -> Iterator[Fault]:
    """What a plan's placement names that is not there, or should not be."""
    for name in placement.environment:
        if _CREDENTIAL.search(name):
            yield Fault(
                ("placement", "environment", name),
                "looks like a credential; put it into a secret and name that under `secrets`.",
            )
    for name, pod in placement.steps.items():
        if name not in components:
            yield Fault(("placement", "steps", name), f"is no component: {choose(name, components)}")
        if pod.pool and pod.pool not in placement.pool_names:
            yield Fault(
                ("placement", "steps", name, "pool"),
                f"is no pool of this plan: {choose(pod.pool, placement.pool_names)}",
            )
