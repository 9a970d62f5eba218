"""The kustomize base and its overlays: they build, they fit each version, and they place what they say."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from checks import ROOT, documents, invalid, pods, run

from pipelines.pods import LABELS

pytestmark = pytest.mark.integration

MANIFESTS = ROOT / "manifests"
OVERLAYS = sorted(path.name for path in (MANIFESTS / "overlays").iterdir())


@cache
def build(overlay: str) -> list[dict[str, Any]]:
    folder = MANIFESTS / "base" if overlay == "base" else MANIFESTS / "overlays" / overlay
    done = run("kubectl", "kustomize", folder)
    assert done.stderr == "", "kustomize warns of something that it will drop"
    return documents(done.stdout)


def only(overlay: str, kind: str, name: str) -> dict[str, Any]:
    (found,) = (one for one in build(overlay) if (one["kind"], one["metadata"]["name"]) == (kind, name))
    return found


def provider(overlay: str) -> dict[str, Any]:
    data = only(overlay, "ConfigMap", "kfp-launcher")["data"]
    assert data["defaultPipelineRoot"] == "s3://audits/leakscape"
    found: dict[str, Any] = yaml.safe_load(data["providers"])["s3"]["default"]
    return found


def test_the_overlays_are_those_that_the_readme_names():
    assert OVERLAYS == ["irsa", "kind", "seaweedfs", "static-keys"]
    page = (MANIFESTS / "README.md").read_text(encoding="utf-8")
    assert all(f"[{name}](overlays/{name})" in page for name in OVERLAYS)


def test_every_version_of_kubernetes_takes_every_overlay():
    objects = [one for overlay in ["base", *OVERLAYS] for one in build(overlay)]
    assert len(objects) > 50
    assert invalid(objects) == []


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_everything_lies_in_the_namespace_and_no_secret_is_there(overlay: str):
    for one in build(overlay):
        assert one["kind"] != "Secret"
        if one["kind"] != "Namespace":
            assert one["metadata"]["namespace"] == "leakscape"
    (subject,) = only(overlay, "RoleBinding", "leakscape-runner")["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": "leakscape-runner", "namespace": "leakscape"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_roles_hold_no_wildcard_and_read_one_secret_at_most(overlay: str):
    for rule in only(overlay, "Role", "leakscape-runner")["rules"]:
        assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
        if "secrets" in rule["resources"]:
            assert overlay != "irsa"
            assert (rule["resourceNames"], rule["verbs"]) == (["leakscape-s3"], ["get"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_steps_are_closed_in_by_the_labels_that_pipelines_give_them(overlay: str):
    found = [one["spec"] for one in build(overlay) if one["metadata"]["name"].startswith("leakscape-steps-")]
    assert len(found) >= 3
    assert all(spec["podSelector"]["matchLabels"] == LABELS for spec in found)
    deny = only(overlay, "NetworkPolicy", "leakscape-steps-deny")["spec"]
    assert (deny["policyTypes"], "ingress" in deny) == (["Ingress", "Egress"], False)


def test_s3_is_reached_by_the_role():
    assert provider("irsa")["credentials"] == {"fromEnv": True}
    annotations = only("irsa", "ServiceAccount", "leakscape-runner")["metadata"]["annotations"]
    assert annotations["eks.amazonaws.com/role-arn"].startswith("arn:aws:iam::")


def test_s3_is_reached_by_keys():
    assert provider("static-keys")["credentials"] == {
        "fromEnv": False,
        "secretRef": {
            "secretName": "leakscape-s3",
            "accessKeyKey": "AWS_ACCESS_KEY_ID",
            "secretKeyKey": "AWS_SECRET_ACCESS_KEY",
        },
    }


def test_the_trial_cluster_reaches_its_own_s3():
    found = provider("seaweedfs")
    service = only("seaweedfs", "Service", "seaweedfs")
    (port,) = service["spec"]["ports"]
    assert found["endpoint"] == f"seaweedfs.leakscape.svc.cluster.local:{port['port']}"
    assert (found["disableSSL"], found["forcePathStyle"]) == (True, True)
    stateful = only("seaweedfs", "StatefulSet", "seaweedfs")
    assert service["spec"]["selector"].items() <= stateful["spec"]["template"]["metadata"]["labels"].items()


def test_the_server_is_hardened_and_its_image_awaits_a_digest():
    (pod,) = pods(build("seaweedfs")).values()
    (container,) = pod["containers"]
    assert container["image"] == "chrislusf/seaweedfs@sha256:" + "0" * 64
    assert {"readinessProbe", "livenessProbe"} <= container.keys()
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert (pod["automountServiceAccountToken"], pod["securityContext"]["runAsNonRoot"]) == (False, True)
    for variable in container["env"]:
        if variable["name"].startswith("AWS_"):
            assert variable["valueFrom"]["secretKeyRef"] == {"name": "leakscape-s3", "key": variable["name"]}


def test_ones_own_machine_needs_little():
    assert only("kind", "ResourceQuota", "leakscape")["spec"]["hard"] == {"pods": "30"}
    stateful = only("kind", "StatefulSet", "seaweedfs")["spec"]
    assert stateful["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "5Gi"
    arguments = stateful["template"]["spec"]["containers"][0]["args"]
    others = only("seaweedfs", "StatefulSet", "seaweedfs")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert [two for one, two in zip(others, arguments, strict=True) if one != two] == ["-master.volumeSizeLimitMB=128"]


# The server of the overlay for real


def free_ports(count: int) -> list[int]:
    """Ports that are free together with those 10,000 above, where SeaweedFS puts its second protocol."""
    found: list[int] = []
    for port in range(20_100, 30_000, 7):
        with socket.socket() as one, socket.socket() as two:
            try:
                one.bind(("127.0.0.1", port))
                two.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise AssertionError("no free ports")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The StatefulSet's own command as a process, with another folder and other ports."""
    weed = Path(sys.executable).with_name("weed")
    (pod,) = pods(build("kind")).values()
    (container,) = pod["containers"]
    s3, master, volume, filer = free_ports(4)
    replaced = {"-dir=/data": f"-dir={tmp_path}", "-s3.port=8333": f"-s3.port={s3}"}
    arguments = [replaced.get(argument, argument) for argument in container["args"]]
    arguments += [f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}", "-s3.ip.bind=127.0.0.1"]
    keys = {"AWS_ACCESS_KEY_ID": "trial", "AWS_SECRET_ACCESS_KEY": "trial-secret", "HOME": str(tmp_path)}
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen([weed, *arguments], env={"PATH": os.environ["PATH"], **keys}, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{s3}"
    finally:
        process.kill()
        process.wait(30)
        log.close()


def test_the_server_starts_with_these_arguments_and_opens_to_the_keys_alone(server: str):
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.exceptions import ClientError

    def client(**given: Any) -> Any:  # noqa: ANN401 - boto3 is untyped
        return boto3.client("s3", endpoint_url=server, region_name="us-east-1", **given)

    wait_for(server)
    ours = client(aws_access_key_id="trial", aws_secret_access_key="trial-secret")  # noqa: S106
    ours.put_object(Bucket="audits", Key="leakscape/one", Body=b"a")
    assert ours.get_object(Bucket="audits", Key="leakscape/one")["Body"].read() == b"a"
    wrong = client(aws_access_key_id="trial", aws_secret_access_key="wrong")  # noqa: S106
    for other in (wrong, client(config=Config(signature_version=UNSIGNED))):
        with pytest.raises(ClientError, match=r"SignatureDoesNotMatch|AccessDenied"):
            other.list_objects_v2(Bucket="audits")


def wait_for(server: str) -> None:
    """Until the probe of the StatefulSet would say ready; a minute at most."""
    import urllib.request

    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{server}/healthz", timeout=5) as answer:  # noqa: S310 - loopback
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server did not become ready")
