"""The chart, rendered by helm with the values of `charts/leakscape/ci`, for the tests of what it puts on a cluster."""

from functools import cache
from typing import Any

import yaml
from checks import ROOT, documents, run

CHART = ROOT / "charts" / "leakscape"
CI = sorted((CHART / "ci").glob("*-values.yaml"))


@cache
def render(values: str = "default", *options: str, release: str = "demo") -> list[dict[str, Any]]:
    """The objects of a release with the values of `ci/VALUES-values.yaml`; rendered once, so leave them as they are."""
    file = CHART / "ci" / f"{values}-values.yaml"
    return documents(run("helm", "template", release, CHART, "--namespace", "audits", "-f", file, *options).stdout)


def only(objects: list[dict[str, Any]], kind: str, ending: str = "") -> dict[str, Any]:
    """The one object of a kind whose name ends so."""
    (found,) = (one for one in objects if one["kind"] == kind and one["metadata"]["name"].endswith(ending))
    return found


def registrations(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """The file that `leakscape register` reads."""
    found: dict[str, Any] = yaml.safe_load(only(objects, "ConfigMap", "-registrations")["data"]["registrations.yaml"])
    return found
