"""The chart, rendered by helm: hardened, named by rule, and fit for each version of Kubernetes."""

import re
from pathlib import Path

import pytest
from chart_rendered import CHART, CI, only, registrations, render
from checks import documents, invalid, pods, run

pytestmark = pytest.mark.integration

LONG = "a-release-with-the-longest-name-that-helm-allows-us-x"  # 53 characters


@pytest.mark.parametrize("file", CI, ids=lambda file: file.stem)
def test_lint_has_nothing_to_say(file: Path):
    done = run("helm", "lint", "--strict", CHART, "-f", file)
    assert "[WARNING]" not in done.stdout
    assert "[ERROR]" not in done.stdout


def test_every_version_of_kubernetes_takes_what_is_rendered():
    objects = [one for file in CI for one in render(file.stem.removesuffix("-values"))]
    assert len(objects) > 100
    assert invalid(objects) == []


def test_the_check_against_versions_can_fail():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "a", "b": 1}]},
    }
    assert invalid([pod], ["1.28.0"]) == [
        "1.28.0 Pod/x: spec.containers.0: Additional properties are not allowed ('b' was unexpected)"
    ]


@pytest.mark.parametrize("file", CI, ids=lambda file: file.stem)
def test_every_pod_is_hardened(file: Path):
    found = pods(render(file.stem.removesuffix("-values")))
    assert found
    for pod in found.values():
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & pod.keys()
        for volume in pod.get("volumes", []):
            assert "hostPath" not in volume
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "privileged": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            for amount in ("requests", "limits"):
                assert {"cpu", "memory"} <= container["resources"][amount].keys()


def test_pods_run_as_the_user_of_the_images_unless_the_cluster_chooses():
    for pod in pods(render("vllm")).values():
        context = pod["securityContext"]
        assert (context["runAsUser"], context["runAsGroup"], context["fsGroup"]) == (1000, 0, 0)
    for pod in pods(render("dev")).values():
        assert not {"runAsUser", "fsGroup"} & pod["securityContext"].keys()


@pytest.mark.parametrize("file", CI, ids=lambda file: file.stem)
def test_no_secret_is_rendered_only_references_are(file: Path):
    objects = render(file.stem.removesuffix("-values"))
    assert "Secret" not in {one["kind"] for one in objects}
    for pod in pods(objects).values():
        for container in pod["containers"]:
            for variable in container.get("env", []):
                secret = re.search(r"KEY|TOKEN|PASSWORD|SECRET", variable["name"])
                assert ("value" in variable) is not bool(secret), variable["name"]


@pytest.mark.parametrize("file", CI, ids=lambda file: file.stem)
def test_images_are_named_by_digest_unless_dev(file: Path):
    name = file.stem.removesuffix("-values")
    objects = render(name)
    images = [container["image"] for pod in pods(objects).values() for container in pod["containers"]]
    images += registrations(objects)["images"].values()
    by_digest = [bool(re.fullmatch(r"[^@]+@sha256:[0-9a-f]{64}", image)) for image in images]
    assert all(by_digest) if name != "dev" else not any(by_digest)


@pytest.mark.parametrize("file", CI, ids=lambda file: file.stem)
def test_rendering_twice_gives_the_same(file: Path):
    values = file.stem.removesuffix("-values")
    again = run("helm", "template", "demo", CHART, "--namespace", "audits", "-f", file).stdout
    assert documents(again) == render(values)


def test_an_upgrade_changes_no_name():
    first, second = render("vllm"), render("vllm", "--is-upgrade", "--set", "images.cli.digest=sha256:" + "9" * 64)
    assert [(one["kind"], one["metadata"]["name"]) for one in first] == [
        (one["kind"], one["metadata"]["name"]) for one in second
    ]


@pytest.mark.parametrize("release", ["a", "leakscape", LONG, "7b", "one.two"])
def test_names_are_labels_whatever_the_release_is_called(release: str):
    assert len(LONG) == 53
    objects = render("vllm", release=release)
    assert registrations(objects)["owner"] == release.replace(".", "-")
    for one in objects:
        name = one["metadata"]["name"]
        assert re.fullmatch(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?", name), name
        for value in one["metadata"]["labels"].values():
            assert re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?", value), value


def test_long_releases_share_no_names():
    first, second = ({one["metadata"]["name"] for one in render("vllm", release=LONG[:-1] + end)} for end in "xy")
    assert first & second == set()


def test_a_release_named_like_the_chart_does_not_say_it_twice():
    assert only(render(release="leakscape"), "Job", "-register")["metadata"]["name"] == "leakscape-register"


def test_limits_and_priority():
    objects = render("vllm")
    assert only(objects, "ResourceQuota")["spec"]["hard"] == {"requests.nvidia.com/gpu": "8", "pods": "60"}
    assert only(objects, "LimitRange")["spec"]["limits"][0]["defaultRequest"] == {"cpu": "100m", "memory": "256Mi"}
    priority = only(objects, "PriorityClass")
    assert (priority["value"], priority["globalDefault"], priority["preemptionPolicy"]) == (1000, False, "Never")
    for name in ("Deployment/demo-leakscape-vllm", "Job/demo-leakscape-register"):
        assert pods(objects)[name]["priorityClassName"] == priority["metadata"]["name"]


def test_the_least_holds_no_more_than_it_must():
    kinds = {one["kind"] for one in render("minimal")}
    assert kinds == {"NetworkPolicy", "ServiceAccount", "ConfigMap", "Role", "RoleBinding", "Job", "Pod"}


def test_the_notes_tell_what_to_type_next():
    def notes(values: str) -> str:
        file = CHART / "ci" / f"{values}-values.yaml"
        options = ["--dry-run=client", "--hide-notes=false", "-n", "audits", "-f", str(file)]
        return run("helm", "install", "demo", CHART, *options).stdout.partition("NOTES:")[2]

    assert "kubectl -n audits logs job/demo-leakscape-register" in notes("default")
    assert "nightly: plan laptop, at 0 0 2 * * *" in notes("default")
    assert "hospital-weekly: plan hospital, at 0 30 1 ? * SUN (disabled)" in notes("irsa")
    assert "create secret generic audit-s3" in notes("static-keys")
    assert "AWS_ENDPOINT_URL_S3=http://seaweedfs.storage.svc.cluster.local:8333" in notes("static-keys")
    assert "base_url: http://demo-leakscape-vllm.audits.svc:8000/v1" in notes("vllm")
    assert "Nothing is registered yet" in notes("minimal")
    assert "dev is on" in notes("dev")
