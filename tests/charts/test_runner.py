"""What the chart lets steps do: their service account, its rights, and where Kubeflow's launcher finds S3."""

from typing import Any

import pytest
import yaml
from chart_rendered import only, registrations, render

pytestmark = pytest.mark.integration


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
