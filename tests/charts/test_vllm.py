"""The vLLM server that the chart can place."""

import pytest
from chart_rendered import only, render
from checks import pods

pytestmark = pytest.mark.integration


def test_the_server_gets_its_accelerators_memory_and_probes():
    spec = pods(render("vllm"))["Deployment/demo-leakscape-vllm"]
    (container,) = spec["containers"]
    assert container["command"] == ["vllm", "serve"]
    assert container["args"][0] == "openai/gpt-oss-120b"
    assert "--tensor-parallel-size=2" in container["args"]
    for amount in ("requests", "limits"):
        assert container["resources"][amount]["nvidia.com/gpu"] == "2"
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= container.keys()
    assert container["startupProbe"]["failureThreshold"] * container["startupProbe"]["periodSeconds"] == 1800
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    assert volumes["shm"]["emptyDir"] == {"medium": "Memory", "sizeLimit": "8Gi"}
    assert volumes["models"]["persistentVolumeClaim"]["claimName"] == "demo-leakscape-models"
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/models", "/dev/shm", "/tmp"}  # noqa: S108


def test_the_servers_credentials_come_from_secrets_and_it_reports_to_nobody():
    (container,) = pods(render("vllm"))["Deployment/demo-leakscape-vllm"]["containers"]
    variables = {entry["name"]: entry for entry in container["env"]}
    assert variables["VLLM_API_KEY"]["valueFrom"]["secretKeyRef"] == {"name": "leakscape-api", "key": "OPENAI_API_KEY"}
    assert variables["HF_TOKEN"]["valueFrom"]["secretKeyRef"]["optional"] is True
    assert variables["VLLM_NO_USAGE_STATS"]["value"] == "1"
    (offline,) = pods(render("airgapped"))["Deployment/demo-leakscape-vllm"]["containers"]
    names = {entry["name"]: entry.get("value") for entry in offline["env"]}
    assert names["HF_HUB_OFFLINE"] == "1"
    assert "HF_TOKEN" not in names


def test_service_budget_and_monitor_select_the_server_and_nothing_else():
    objects = render("vllm")
    labels = only(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
    service, budget, monitor = (only(objects, kind) for kind in ("Service", "PodDisruptionBudget", "ServiceMonitor"))
    for selector in (
        service["spec"]["selector"],
        budget["spec"]["selector"]["matchLabels"],
        monitor["spec"]["selector"]["matchLabels"],
    ):
        assert selector["app.kubernetes.io/component"] == "vllm"
        assert selector.items() <= labels.items()
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["endpoints"] == [{"port": "http", "path": "/metrics", "interval": "30s"}]


def test_a_release_may_be_nothing_but_the_server():
    objects = render("vllm", "--set", "register.enabled=false", "--set", "networkPolicy.enabled=false")
    assert not {"Job", "ConfigMap", "NetworkPolicy"} & {one["kind"] for one in objects}
    assert pods(objects).keys() == {"Deployment/demo-leakscape-vllm", "Pod/demo-leakscape-test-vllm"}
    bare = render("vllm", "--set", "vllm.enabled=false", "--set", "runner.serviceAccount.create=false")
    assert not {"Deployment", "Service", "PersistentVolumeClaim", "ServiceMonitor"} & {one["kind"] for one in bare}
