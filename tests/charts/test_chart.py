"""The chart, rendered by helm: what it puts on a cluster, what it refuses, and that it fits each version."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from checks import ROOT, documents, invalid, pods, run

pytestmark = pytest.mark.integration

CHART = ROOT / "charts" / "leakscape"
CI = sorted((CHART / "ci").glob("*-values.yaml"))
LONG = "a-release-with-the-longest-name-that-helm-allows-us-x"  # 53 characters


@cache
def render(values: str = "default", *options: str, release: str = "demo") -> list[dict[str, Any]]:
    file = CHART / "ci" / f"{values}-values.yaml"
    return documents(run("helm", "template", release, CHART, "--namespace", "audits", "-f", file, *options).stdout)


def only(objects: list[dict[str, Any]], kind: str, ending: str = "") -> dict[str, Any]:
    (found,) = (one for one in objects if one["kind"] == kind and one["metadata"]["name"].endswith(ending))
    return found


def registrations(objects: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(only(objects, "ConfigMap", "-registrations")["data"]["registrations.yaml"])
    return found


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


# What is registered


def test_the_file_of_a_nightly_audit():
    found = registrations(render("default"))
    digest = {"base": "2", "train": "3", "rewrite": "4", "evaluate": "5"}
    assert found == {
        "schema": "leakscape/registrations/1",
        "endpoint": "http://ml-pipeline.kubeflow.svc.cluster.local:8888",
        "namespace": "audits",
        "token_file": "/var/run/secrets/leakscape/token",
        "ca_file": "",
        "owner": "demo",
        "experiment": "leakscape",
        "service_account": "demo-leakscape-runner",
        "pipeline_root": "",
        "parameters": {},
        "prune": True,
        "dev": False,
        "images": {
            name: f"registry.example.org/leakscape/{name}@sha256:{digit * 64}" for name, digit in digest.items()
        },
        "registrations": [
            {
                "name": "nightly",
                "plan": "laptop",
                "set": [],
                "parameters": {},
                "refresh": "",
                "schedule": {"cron": "0 0 2 * * *", "enabled": True, "max_concurrency": 1, "no_catchup": True},
            }
        ],
    }


def test_a_plan_of_ones_own_is_handed_on_word_for_word(tmp_path: Path):
    text = "# {{ not a template }}\nname: mine\nconditions:\n  - name: none\n"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    objects = render("irsa", "--set-file", f"plans.hospital={tmp_path / 'mine.yaml'}")
    data = only(objects, "ConfigMap", "-registrations")["data"]
    assert data["plan-hospital.yaml"].strip() == text.strip()
    (entry,) = registrations(objects)["registrations"]
    assert entry["plan"] == "/etc/leakscape/plans/hospital.yaml"
    assert entry["schedule"] == {"cron": "0 30 1 ? * SUN", "enabled": False, "max_concurrency": 1, "no_catchup": True}
    (volume, *_) = pods(objects)["Job/demo-leakscape-register"]["volumes"]
    assert volume["configMap"]["items"] == [
        {"key": "registrations.yaml", "path": "registrations.yaml"},
        {"key": "plan-hospital.yaml", "path": "plans/hospital.yaml"},
    ]


def test_the_job_runs_register_with_nothing_but_the_file():
    job = only(render(), "Job", "-register")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "post-install,post-upgrade"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["image"].startswith("registry.example.org/leakscape/cli@")
    assert container["args"] == ["register", "/etc/leakscape/registrations.yaml"]
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts == {"/etc/leakscape", "/tmp", "/var/run/secrets/leakscape"}  # noqa: S108


def test_wrong_settings_end_the_job_at_once_and_a_busy_api_does_not():
    spec = only(render(), "Job", "-register")["spec"]
    (rule,) = spec["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]["operator"], rule["onExitCodes"]["values"]) == ("FailJob", "In", [2])
    assert spec["backoffLimit"] == 6
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_an_uninstall_disables_what_was_scheduled():
    objects = render("default")
    job, config = only(objects, "Job", "-unregister"), only(objects, "ConfigMap", "-unregister")
    for one in (job, config):
        assert one["metadata"]["annotations"]["helm.sh/hook"] == "pre-delete"
    text = yaml.safe_load(config["data"]["registrations.yaml"])
    assert (text["registrations"], text["prune"]) == ([], True)
    assert text.keys() == registrations(objects).keys()
    assert text["owner"] == registrations(objects)["owner"]


def test_a_single_user_kubeflow_has_no_namespaces_and_a_token_from_a_secret():
    objects = render("static-keys")
    found = registrations(objects)
    assert found["namespace"] == ""
    assert (found["token_file"], found["ca_file"]) == ("/var/run/secrets/leakscape/token", "/etc/leakscape-ca/ca.crt")
    assert "schedule" not in found["registrations"][0]
    volumes = {volume["name"]: volume for volume in pods(objects)["Job/demo-leakscape-register"]["volumes"]}
    assert volumes["token"]["secret"]["secretName"] == "kubeflow-token"
    assert registrations(render("dev"))["token_file"] == ""


def test_names_of_secrets_that_differ_from_the_pipelines_are_handed_to_them():
    assert registrations(render("static-keys"))["parameters"] == {"s3_secret": "audit-s3"}
    assert registrations(render("vllm"))["parameters"] == {"gpu_pool": {"pool": "gpu"}}
    objects = render("default", "--set", "secrets.hub=mine", "--set", "parameters.hub_secret=theirs")
    assert registrations(objects)["parameters"] == {"hub_secret": "theirs"}


# Rights and credentials


def test_steps_get_the_role_that_the_service_account_is_annotated_with():
    account = only(render("irsa"), "ServiceAccount", "-runner")
    assert account["metadata"]["annotations"] == {
        "eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/leakscape"
    }


def providers(objects: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - YAML
    return yaml.safe_load(only(objects, "ConfigMap", "kfp-launcher")["data"]["providers"])["s3"]["default"]


def test_kubeflows_launcher_is_told_where_s3_is():
    assert providers(render("irsa")) == {
        "endpoint": "s3.eu-central-1.amazonaws.com",
        "region": "eu-central-1",
        "disableSSL": False,
        "forcePathStyle": False,
        "credentials": {"fromEnv": True},
    }
    assert providers(render("static-keys"))["credentials"] == {
        "fromEnv": False,
        "secretRef": {
            "secretName": "audit-s3",
            "accessKeyKey": "AWS_ACCESS_KEY_ID",
            "secretKeyKey": "AWS_SECRET_ACCESS_KEY",
        },
    }
    assert [one for one in render("default") if one["metadata"]["name"] == "kfp-launcher"] == []


@pytest.mark.parametrize("values", ["irsa", "static-keys", "vllm"])
def test_roles_hold_no_wildcard_and_read_no_secret_but_one(values: str):
    for role in (one for one in render(values) if one["kind"] == "Role"):
        for rule in role["rules"]:
            assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
            if "secrets" in rule["resources"]:
                assert (values, rule["resourceNames"], rule["verbs"]) == ("static-keys", ["audit-s3"], ["get"])


def test_a_named_service_account_is_used_and_not_made():
    options = ["--set", "runner.serviceAccount.create=false", "--set", "runner.serviceAccount.name=default-editor"]
    objects = render("default", *options)
    assert registrations(objects)["service_account"] == "default-editor"
    assert [one["metadata"]["name"] for one in objects if one["kind"] == "ServiceAccount"] == [
        "demo-leakscape-register"
    ]
    assert only(objects, "RoleBinding", "-runner")["subjects"][0]["name"] == "default-editor"
    bare = render("default", "--set", "runner.serviceAccount.create=false")
    assert registrations(bare)["service_account"] == ""


# The network


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


# The vLLM server


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


def test_a_release_may_be_nothing_but_the_server():
    objects = render("vllm", "--set", "register.enabled=false", "--set", "networkPolicy.enabled=false")
    assert not {"Job", "ConfigMap", "NetworkPolicy"} & {one["kind"] for one in objects}
    assert pods(objects).keys() == {"Deployment/demo-leakscape-vllm", "Pod/demo-leakscape-test-vllm"}
    bare = render("vllm", "--set", "vllm.enabled=false", "--set", "runner.serviceAccount.create=false")
    assert not {"Deployment", "Service", "PersistentVolumeClaim", "ServiceMonitor"} & {one["kind"] for one in bare}


# What is refused

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


def test_the_page_of_registrations_shows_the_file_that_is_rendered():
    page = (ROOT / "docs" / "registrations.md").read_text(encoding="utf-8")
    shown = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    rendered = registrations(render("default"))
    assert shown.keys() == rendered.keys()
    assert shown["images"] == rendered["images"]
    (ours,), (theirs,) = shown["registrations"], rendered["registrations"]
    assert (ours.keys(), ours["schedule"]) == (theirs.keys(), theirs["schedule"])
