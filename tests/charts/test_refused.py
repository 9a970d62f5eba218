"""Values that the chart refuses, each by its name, and crons that it takes."""

import json
from typing import Any

import pytest
from chart_rendered import CHART, registrations, render
from checks import run

pytestmark = pytest.mark.integration

CRON = "registrations[0].schedule.cron"


def settings(key: str, value: Any) -> list[str]:  # noqa: ANN401 - any JSON
    return ["--set-json", f"{key}={json.dumps(value)}"]


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("images.cli.digest", "", "/images/cli/digest"),
        ("images.base.digest", "latest", "/images/base/digest"),
        ("images.train.digest", "sha256:" + "0" * 64, "/images/train/digest"),
        ("images.rewrite.tag", "latest", "/images/rewrite/tag"),
        ("images.vllm", {"digest": ""}, "/images"),
        (CRON, "0 2 * * *", "/registrations/0/schedule/cron"),
        (CRON, "0 0 24 * * *", "/registrations/0/schedule/cron"),
        (CRON, "0 60 2 * * *", "/registrations/0/schedule/cron"),
        (CRON, "0 0 2 * * 7", "/registrations/0/schedule/cron"),
        (CRON, "0 0 2 * 13 *", "/registrations/0/schedule/cron"),
        (CRON, "@daily", "/registrations/0/schedule/cron"),
        ("registrations[0].schedule.maxConcurrency", 3, "/registrations/0/schedule"),
        ("registrations[0].name", "Nightly audit", "/registrations/0/name"),
        ("registrations[0].every", "day", "/registrations/0"),
        ("registrations[0].overrides", ["canaries.count"], "/registrations/0/overrides/0"),
        ("kubeflow.endpoint", "https://user:password@kubeflow.example.org", "/kubeflow/endpoint"),
        ("kubeflow.auth.mode", "password", "/kubeflow/auth/mode"),
        ("kubeflow.auth.mode", "secret", "/kubeflow/auth/existingSecret"),
        ("kubeflow.auth.token", "abc", "/kubeflow/auth"),
        ("s3.mode", "keys", "/s3/mode"),
        ("s3.secretAccessKey", "abc", "/s3"),
        ("networkPolicy.s3.cidrs", ["10.0.0.0"], "/networkPolicy/s3/cidrs/0"),
        ("networkPolicy.s3.ports", [0], "/networkPolicy/s3/ports/0"),
        ("networkPolicy.stepLabels", {"app.kubernetes.io/part-of": "a b"}, "/networkPolicy/stepLabels"),
        ("vllm.enabled", True, "/vllm/model"),
        ("vllm.args", ["--enable-log-requests"], "/vllm/args/0"),
        ("vllm.args", ["--api-key=abc"], "/vllm/args/0"),
        ("vllm.args", ["--trust-remote-code"], "/vllm/args/0"),
        ("vllm.image", "vllm/vllm-openai:latest", "/vllm/image"),
        ("security.runAsUser", 0, "/security/runAsUser"),
        ("security.privileged", True, "/security"),
        ("register.resources.requests.cpu", "much", "/register/resources/requests/cpu"),
        ("replicas", 2, ""),
    ],
)
def test_wrong_values_are_refused_by_name(key: str, value: Any, place: str):  # noqa: ANN401 - any JSON
    file = CHART / "ci" / "default-values.yaml"
    done = run("helm", "template", "demo", CHART, "-f", file, *settings(key, value), check=False)
    assert done.returncode != 0
    assert f"at '{place}" in done.stderr, done.stderr


def test_two_registrations_of_one_name_are_refused():
    twice = [{"name": "nightly", "plan": "laptop"}, {"name": "nightly", "plan": "paper-main"}]
    file = CHART / "ci" / "minimal-values.yaml"
    done = run("helm", "template", "demo", CHART, "-f", file, *settings("registrations", twice), check=False)
    assert "nightly stands there twice" in done.stderr


@pytest.mark.parametrize(
    "cron",
    [
        "0 0 2 * * *",
        "0 */15 8-18 * * MON-FRI",
        "30 05 00 1,15 JAN-JUN ?",
        "0 0 0 ? * 0,6",
        "*/10 * * * * *",
        "0 0 23 31 12 *",
    ],
)
def test_crons_that_kubeflow_reads_are_taken(cron: str):
    (entry,) = registrations(render("default", *settings(CRON, cron)))["registrations"]
    assert entry["schedule"]["cron"] == cron
