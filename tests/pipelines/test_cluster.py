"""The cluster's pipeline, walked by kfp.local with steps that only answer: what runs, in which order, told what."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from plan_fakes import CONTRACTS, PLAN, PUSHED

import components
from leakscape import __version__
from leakscape.contract import spec
from leakscape.local.kfp_runner import task_handler
from pipelines import audit, needs, source
from pipelines.cluster import build_for_cluster
from pipelines.compose import compose
from pipelines.placement import place
from pipelines.plan import check

ON_S3 = """\
schema: leakscape/plan/1
name: bucket
population: {source: synthea-csv, path: "s3://data/cohort", content_hash: abc}
targets:
  - model: org/model
    revision: v2
conditions:
  - name: none
  - name: rewrite
    corpus:
      - component: vllm-rewrite
        backend: openai
        model: gpt
        key_variable: TEAM_KEY
        ledger_dir: s3://bucket/ledgers
    train:
      component: lora-train
placement:
  pools:
    big: {selector: {pool: big}}
  steps:
    lora-train: {pool: big, accelerators: 4}
"""


def test_an_endpoint_of_ones_own_may_want_no_credential():
    known = components.contracts()
    own = ON_S3.replace("        key_variable: TEAM_KEY\n", "        base_url: http://vllm:8000/v1\n")
    found = compose(check(source.parse(own, name="s.yaml"), contracts=known), known)
    places = {step.id: place(found.placement, spec(known[step.component]), step.parameters) for step in found.steps}
    assert needs.of_preflight(found, places)["variables"] == []


class Cluster:
    """Walks a pipeline; every step writes what KFP wants of it and nothing else."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.commands: dict[str, list[str]] = {}

    def execute(self, name: str, command: Sequence[str], _environment: Mapping[str, str]) -> bool:
        self.commands[name] = list(command)
        given = json.loads(command[command.index("--executor-input") + 1])
        artifacts = given["outputs"].get("artifacts", {})
        told = {key: {"artifacts": [{**value["artifacts"][0], "metadata": {}}]} for key, value in artifacts.items()}
        file = Path(given["outputs"]["outputFile"])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"artifacts": told}), encoding="utf-8")
        return name != self.failing

    def flag(self, name: str, flag: str) -> str:
        (found,) = (word for word in self.commands[name] if word.startswith(f"--{flag}="))
        return found.partition("=")[2]


def walk(tmp_path: Path, failing: str = "", **given: Any) -> Cluster:  # noqa: ANN401
    found = audit.graph(check(source.parse(PLAN, name="p.yaml"), contracts=CONTRACTS), CONTRACTS)
    cluster = Cluster(failing)
    with task_handler(cluster.execute, folders={}, root=tmp_path):
        build_for_cluster(found, CONTRACTS, PUSHED)(**given)
    return cluster


def test_the_preflight_comes_first_and_the_finish_last(tmp_path: Path):
    order = list(walk(tmp_path).commands)
    assert (order[0], order[-1]) == ("preflight", "finish")
    assert len(order) == 13


def test_nothing_runs_where_the_preflight_fails_but_the_finish(tmp_path: Path):
    cluster = Cluster("preflight")
    text = PLAN + "placement:\n  steps:\n    preflight: {retries: -1}\n"  # kfp.local waits a minute before each retry
    found = audit.graph(check(source.parse(text, name="p.yaml"), contracts=CONTRACTS), CONTRACTS)
    with pytest.raises(RuntimeError), task_handler(cluster.execute, folders={}, root=tmp_path):
        build_for_cluster(found, CONTRACTS, PUSHED)()
    assert list(cluster.commands) == ["preflight", "finish"]
    assert json.loads(cluster.flag("finish", "status"))["state"] == "FAILED"


def test_the_finish_is_told_of_success(tmp_path: Path):
    cluster = walk(tmp_path)
    assert json.loads(cluster.flag("finish", "status"))["state"] == "SUCCEEDED"
    assert cluster.flag("finish", "plan") == "small"


def test_the_preflight_is_told_what_every_step_needs():
    known = components.contracts()
    found = compose(check(source.parse(ON_S3, name="s.yaml"), contracts=known), known)
    places = {step.id: place(found.placement, spec(known[step.component]), step.parameters) for step in found.steps}
    assert needs.of_preflight(found, places) == {
        "models": ["org/model@v2"],
        "trust_remote_code": False,
        "variables": ["TEAM_KEY"],
        "places": ["s3://bucket/ledgers"],
        "sources": ["s3://data/cohort"],  # never written to
        "accelerators": 4,
        "accelerator": "nvidia.com/gpu",
        "version": __version__,
    }
    assert needs.of_finish(found) == {"plan": "bucket", "places": ["s3://bucket/ledgers"]}


def test_the_preflight_looks_from_the_most_demanding_pool_with_every_credential():
    known = components.contracts()
    found = compose(check(source.parse(ON_S3, name="s.yaml"), contracts=known), known)
    made = build_for_cluster(found, known, PUSHED)
    spec = json_format.MessageToDict(made.platform_spec)
    pod = spec["platforms"]["kubernetes"]["deploymentSpec"]["executors"]["exec-preflight"]
    assert pod["nodeSelector"]["nodeSelectorJson"]["componentInputParameter"] == "pipelinechannel--big_pool"
    names = {entry["envVar"] for secret in pod["secretAsEnv"] for entry in secret["keyToEnv"]}
    keys = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3"}
    assert names == {"HF_TOKEN", "TEAM_KEY", *keys}
    executors = made.pipeline_spec.deployment_spec["executors"]
    accelerator = executors["exec-preflight"]["container"]["resources"]["accelerator"]
    assert accelerator["resourceCount"] == "4"


REFRESHED = """\
schema: leakscape/plan/1
name: refreshed
population:
  refresh: monday
targets:
  - model: leakscape/tiny
conditions:
  - name: none
"""


def test_a_new_refresh_reaches_the_first_step_alone(tmp_path: Path):
    known = components.contracts()
    found = compose(check(source.parse(REFRESHED, name="r.yaml"), contracts=known), known)
    cluster = Cluster()
    with task_handler(cluster.execute, folders={}, root=tmp_path):
        build_for_cluster(found, known, PUSHED)()
        before = dict(cluster.commands)
        build_for_cluster(found, known, PUSHED)(refresh="tuesday")
    assert "--refresh=monday" in before["synthea-gen"]
    assert "--refresh=tuesday" in cluster.commands["synthea-gen"]
    assert [name for name, words in cluster.commands.items() if any("tuesday" in word for word in words[:-1])] == [
        "synthea-gen"
    ]
