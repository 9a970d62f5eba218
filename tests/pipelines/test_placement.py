"""Where steps run, asserted on the compiled YAML: the pipeline and its platform part."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from plan_fakes import CONTRACTS, PLAN, PUSHED

from leakscape.contract import spec
from leakscape.errors import PlanError
from pipelines import audit, source
from pipelines.compose import compose
from pipelines.placement import (
    MLFLOW_VARIABLES,
    S3_VARIABLES,
    Placement,
    Pod,
    Secrets,
    devices_of,
    place,
    secrets_of,
)
from pipelines.plan import check

ON_GPU = PLAN.replace("leakscape/tiny", "org/model-4b")


class Compiled:
    """A compiled plan, its parts by the component that they belong to."""

    def __init__(self, text: str, folder: Path) -> None:
        found = audit.graph(check(source.parse(text, name="p.yaml"), contracts=CONTRACTS), CONTRACTS)
        audit.compile_to(found, CONTRACTS, folder / "audit.yaml", PUSHED)
        documents = list(yaml.safe_load_all((folder / "audit.yaml").read_text(encoding="utf-8")))
        self.pipeline: dict[str, Any] = documents[0]
        self.platform: dict[str, Any] = documents[1]["platforms"]["kubernetes"]["deploymentSpec"]["executors"]

    def container(self, executor: str) -> dict[str, Any]:
        found: dict[str, Any] = self.pipeline["deploymentSpec"]["executors"][f"exec-{executor}"]["container"]
        return found

    def pod(self, executor: str) -> dict[str, Any]:
        found: dict[str, Any] = self.platform[f"exec-{executor}"]
        return found

    def task(self, name: str) -> dict[str, Any]:
        dags = [self.pipeline["root"]["dag"], *(part.get("dag", {}) for part in self.pipeline["components"].values())]
        (found,) = (dag["tasks"][name] for dag in dags if name in dag.get("tasks", {}))
        return dict(found)

    @property
    def parameters(self) -> dict[str, Any]:
        found = self.pipeline["root"]["inputDefinitions"]["parameters"]
        return {name: entry["defaultValue"] for name, entry in found.items()}


@pytest.fixture(scope="module")
def on_gpu(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return Compiled(ON_GPU, tmp_path_factory.mktemp("gpu"))


def test_a_training_step_gets_an_accelerator_and_shared_memory(on_gpu: Compiled):
    resources = on_gpu.container("lora-train")["resources"]
    accelerator = resources["accelerator"]
    assert (accelerator["resourceCount"], accelerator["resourceType"]) == ("1", "nvidia.com/gpu")
    assert (resources["resourceCpuRequest"], resources["resourceCpuLimit"]) == ("8", "8")
    assert (resources["resourceMemoryRequest"], resources["resourceMemoryLimit"]) == ("48Gi", "48Gi")
    assert on_gpu.pod("lora-train")["emptyDirMounts"] == [
        {"volumeName": "shm", "mountPath": "/dev/shm", "medium": "Memory", "sizeLimit": "8Gi"},  # noqa: S108
        {"volumeName": "scratch", "mountPath": "/scratch", "sizeLimit": "100Gi"},
    ]


def selector(compiled: Compiled, executor: str) -> str:
    name: str = compiled.pod(executor)["nodeSelector"]["nodeSelectorJson"]["componentInputParameter"]
    return name.removeprefix("pipelinechannel--")


def test_the_pools_are_parameters_of_the_pipeline(on_gpu: Compiled):
    assert on_gpu.parameters["gpu_pool"] == {}
    assert on_gpu.parameters["gpu_tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]
    assert on_gpu.parameters["cpu_tolerations"] == []
    assert selector(on_gpu, "lora-train") == "gpu_pool"
    assert selector(on_gpu, "evaluate") == "gpu_pool"
    assert [selector(on_gpu, name) for name in ("synthea-gen", "canary-insert", "landscape")] == ["cpu_pool"] * 3


def test_steps_without_a_model_ask_for_no_accelerator(on_gpu: Compiled):
    for executor in ("synthea-gen", "canary-insert", "scrub", "landscape"):
        assert "accelerator" not in on_gpu.container(executor)["resources"]
        assert [mount["volumeName"] for mount in on_gpu.pod(executor)["emptyDirMounts"]] == ["scratch"]


def test_a_step_gets_only_the_secrets_that_it_needs_and_all_are_optional(on_gpu: Compiled):
    (hub,) = on_gpu.pod("lora-train")["secretAsEnv"]
    assert hub["keyToEnv"] == [{"secretKey": "HF_TOKEN", "envVar": "HF_TOKEN"}]
    assert hub["optional"] is True
    assert hub["secretNameParameter"]["componentInputParameter"].endswith("hub_secret")
    assert on_gpu.parameters["hub_secret"] == Secrets().hub
    assert "secretAsEnv" not in on_gpu.pod("landscape")
    assert "s3_secret" not in on_gpu.parameters


def test_steps_are_tried_again_with_growing_pauses(on_gpu: Compiled):
    policy = on_gpu.task("lora-train")["retryPolicy"]
    assert policy["maxRetryCount"] == 2
    assert (policy["backoffDuration"], policy["backoffFactor"]) == ("60s", 2.0)


def test_the_model_that_ships_needs_no_accelerator(tmp_path: Path):
    compiled = Compiled(PLAN, tmp_path)
    assert "gpu_pool" not in compiled.parameters
    assert "accelerator" not in compiled.container("lora-train")["resources"]


PLACED = """\
placement:
  service_account: runner
  image_pull_secret: registry
  secrets:
    hub: team-hub
  environment:
    AWS_REGION: eu-central-1
  pools:
    gpu:
      selector:
        node.kubernetes.io/instance-type: p5.48xlarge
    spot-gpu:
      selector:
        pool: spot
      tolerations:
        - key: spot
          operator: Equal
          value: "true"
          effect: NoSchedule
  steps:
    dp-train:
      pool: spot-gpu
      accelerators: 2
      memory: 96Gi
      retries: 8
      timeout: 86400
    evaluate:
      accelerators: -1
      retries: -1
"""


def test_a_plan_says_where_its_steps_run(tmp_path: Path):
    compiled = Compiled(ON_GPU + PLACED, tmp_path)
    assert compiled.parameters["gpu_pool"] == {"node.kubernetes.io/instance-type": "p5.48xlarge"}
    assert compiled.parameters["gpu_tolerations"] == []  # the pool is the plan's own, all of it
    assert compiled.parameters["spot_gpu_pool"] == {"pool": "spot"}
    assert compiled.parameters["spot_gpu_tolerations"] == [
        {"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
    ]
    assert [compiled.parameters[name] for name in ("hub_secret", "image_pull_secret")] == ["team-hub", "registry"]
    assert selector(compiled, "dp-train") == "spot_gpu_pool"
    assert compiled.container("dp-train")["resources"]["accelerator"]["resourceCount"] == "2"
    assert compiled.container("dp-train")["resources"]["resourceMemoryLimit"] == "96Gi"
    assert compiled.pod("dp-train")["activeDeadlineSeconds"] == "86400"
    assert compiled.task("dp-train")["retryPolicy"]["maxRetryCount"] == 8
    assert "accelerator" not in compiled.container("evaluate")["resources"]
    assert "retryPolicy" not in compiled.task("evaluate")
    assert all("imagePullSecret" in pod for pod in compiled.platform.values())
    for executor in ("dp-train", "landscape", "preflight", "finish"):
        assert compiled.container(executor)["env"] == [{"name": "AWS_REGION", "value": "eu-central-1"}]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("  steps:\n    lora-trian: {cpu: '4'}\n", r"lora-trian is no component: did you mean `lora-train`\?"),
        ("  steps:\n    lora-train: {pool: spot}\n", "pool is no pool of this plan: there are cpu, gpu"),
        ("  steps:\n    lora-train: {memory: 4 gigabytes}\n", "memory does not fit; quantities are written as"),
        ("  steps:\n    lora-train: {memroy: 4Gi}\n", r"memroy is no key of a plan here; did you mean `memory`\?"),
        ("  pools:\n    gpu: {selectors: {}}\n", r"selectors is no key of a plan here; did you mean `selector`\?"),
        ("  steps:\n    lora-train: {accelerators: 65}\n", "accelerators must be at most 64"),
        ("  environment: {HF_TOKEN: x}\n", "HF_TOKEN looks like a credential; put it into a secret"),
        ("  environment: {1A: x}\n", "1A.* does not fit"),
    ],
)
def test_a_wrong_placement_is_named_with_its_line(lines: str, words: str):
    with pytest.raises(PlanError, match=rf"p\.yaml, line \d+: placement\..*{words}"):
        check(source.parse(PLAN + "placement:\n" + lines, name="p.yaml"), contracts=CONTRACTS)


def test_placement_changes_no_step():
    plans = [check(source.parse(text, name="p.yaml"), contracts=CONTRACTS) for text in (ON_GPU, ON_GPU + PLACED)]
    one, two = (compose(plan, CONTRACTS) for plan in plans)
    assert one.steps == two.steps


@pytest.mark.parametrize(
    ("component", "parameters", "count"),
    [
        ("lora-train", {"model": "org/model"}, 1),
        ("lora-train", {"model": "org/model", "processes": 4}, 4),
        ("lora-train", {"model": "leakscape/tiny"}, 0),
        ("evaluate", {"model": "org/model", "tensor_parallel": 2}, 2),
        ("evaluate", {"model": "org/model", "backend": "openai"}, 0),
        ("scrub", {"detector": "presidio"}, 0),
        ("landscape", {"model": "org/model"}, 0),
    ],
)
def test_devices_follow_what_a_step_does(component: str, parameters: dict[str, Any], count: int):
    assert devices_of(spec(CONTRACTS[component]), parameters) == count


def test_credentials_of_an_endpoint_come_under_their_own_name():
    given = {"backend": "openai", "key_variable": "TEAM_KEY", "model": "gpt", "ledger_dir": "s3://bucket/ledgers"}
    assert secrets_of(given) == {
        "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3"),
        "api": ("TEAM_KEY",),
    }


def test_what_a_plan_leaves_out_of_a_pod_keeps_its_default():
    found = place(Placement(steps={"lora-train": Pod(cpu="500m")}), spec(CONTRACTS["lora-train"]), {"model": "a/b"})
    assert (found.cpu, found.memory, found.accelerators) == ("500m", "48Gi", 1)


def test_publishing_gets_the_credentials_of_the_services_that_it_is_told_of():
    given = {
        "history": "s3://audits",
        "registry": "https://registry",
        "registry_token_variable": "REGISTRY",
        "mlflow": "",
    }
    assert secrets_of(given) == {"s3": S3_VARIABLES, "api": ("REGISTRY",)}
    assert secrets_of({"registry": "", "mlflow": "https://mlflow"}) == {"api": MLFLOW_VARIABLES}
