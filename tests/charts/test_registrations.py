"""What the chart registers: the file that it renders, and the jobs that read it."""

from pathlib import Path

import pytest
import yaml
from chart_rendered import only, registrations, render
from checks import ROOT, pods

pytestmark = pytest.mark.integration


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


def test_the_page_of_registrations_shows_the_file_that_is_rendered():
    page = (ROOT / "docs" / "registrations.md").read_text(encoding="utf-8")
    shown = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    rendered = registrations(render("default"))
    assert shown.keys() == rendered.keys()
    assert shown["images"] == rendered["images"]
    (ours,), (theirs,) = shown["registrations"], rendered["registrations"]
    assert (ours.keys(), ours["schedule"]) == (theirs.keys(), theirs["schedule"])
