"""What the chart's network policies let through: nothing but what is listed."""

from typing import Any

import pytest
from chart_rendered import render

pytestmark = pytest.mark.integration


def policies(values: str) -> dict[str, dict[str, Any]]:
    found = [one for one in render(values) if one["kind"] == "NetworkPolicy"]
    return {one["metadata"]["name"].removeprefix("demo-leakscape-"): one["spec"] for one in found}


def reached(spec: dict[str, Any]) -> list[tuple[str, tuple[int, ...]]]:
    """What a policy lets out to: an address range or a namespace or `pods`, with the ports."""
    found = []
    for rule in spec["egress"]:
        ports = tuple(port["port"] for port in rule["ports"])
        for peer in rule["to"]:
            if "ipBlock" in peer:
                found.append((peer["ipBlock"]["cidr"], ports))
            elif "namespaceSelector" in peer:
                found.append((peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], ports))
            else:
                found.append(("pods", ports))
    return found


def test_all_is_closed_but_name_resolution_and_what_is_listed():
    found = policies("networkpolicy")
    for name in ("deny-steps", "deny-release"):
        assert found[name]["policyTypes"] == ["Ingress", "Egress"]
        assert "ingress" not in found[name]
        assert reached(found[name]) == [("kube-system", (53, 53))]
    assert reached(found["allow-steps"]) == [
        ("10.20.0.10/32", (8888, 8887, 8080)),
        ("10.0.0.1/32", (443,)),
        ("10.30.0.0/24", (9000,)),
        ("model-serving", (8080,)),
        ("10.40.0.5/32", (5000,)),
    ]
    assert reached(found["allow-register"]) == [("10.20.0.10/32", (8888, 8887, 8080))]


def test_the_nodes_metadata_stay_closed():
    rules = [rule for rule in policies("default")["allow-steps"]["egress"] if "ipBlock" in rule["to"][0]]
    assert len(rules) == 2
    assert all(rule["to"][0]["ipBlock"]["except"] == ["169.254.169.254/32"] for rule in rules)


def test_no_policy_for_steps_opens_anything_to_the_release_itself():
    objects = render("vllm")
    steps = policies("vllm")["allow-steps"]["podSelector"]["matchLabels"]
    for one in objects:
        labels = one.get("spec", {}).get("template", one).get("metadata", {}).get("labels", {})
        assert not steps.items() <= labels.items(), one["metadata"]["name"]


def test_an_offline_server_reaches_nothing_and_is_reached_by_steps_alone():
    spec = policies("airgapped")["allow-vllm"]
    assert spec["egress"] == []
    (rule,) = spec["ingress"]
    assert [peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"] for peer in rule["from"]] == [
        "step",
        "test",
    ]
    assert {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}} in policies("vllm")[
        "allow-vllm"
    ]["ingress"][0]["from"]


def test_every_pod_of_the_release_is_closed_in():
    selector = policies("vllm")["deny-release"]["podSelector"]["matchLabels"]
    for one in render("vllm"):
        if one["kind"] in {"Pod", "Job", "Deployment"}:
            labels = (one if one["kind"] == "Pod" else one["spec"]["template"])["metadata"]["labels"]
            assert selector.items() <= labels.items()
            assert labels["sidecar.istio.io/inject"] == "false"
