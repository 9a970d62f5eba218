"""What the chart renders is what `leakscape register` reads: each file is read, and its plans are compiled."""

from pathlib import Path
from typing import Any

import pytest
from checks import ROOT, documents, run

from components import contracts
from leakscape.errors import PlanError
from pipelines.client.registrations import Prepared, Registrations, prepare, read

pytestmark = pytest.mark.integration

CHART = ROOT / "charts" / "leakscape"
MOUNTED = "/etc/leakscape/plans"


def placed(values: str, folder: Path, *options: str) -> dict[str, Path]:
    """The chart's ConfigMaps as files, each in a folder by its name, as they are mounted in the job."""
    file = CHART / "ci" / f"{values}-values.yaml"
    text = run("helm", "template", "demo", CHART, "--namespace", "audits", "-f", file, *options).stdout
    found = {}
    for one in documents(text):
        if one["kind"] == "ConfigMap" and "registrations.yaml" in one["data"]:
            name = one["metadata"]["name"].removeprefix("demo-leakscape-")
            home = folder / name
            home.mkdir()
            for key, content in one["data"].items():
                moved = content.replace(MOUNTED, str(home))
                (home / key.removeprefix("plan-")).write_text(moved, encoding="utf-8")
            found[name] = home / "registrations.yaml"
    return found


def fit(file: Path) -> tuple[Registrations, list[Prepared]]:
    found, source = read(file)
    return found, prepare(found, source, contracts())


@pytest.mark.parametrize("values", ["minimal", "irsa", "static-keys", "dev"])
def test_what_is_rendered_can_be_registered(values: str, tmp_path: Path):
    files = placed(values, tmp_path)
    assert files.keys() == {"registrations", "unregister"}
    registered, prepared = fit(files["registrations"])
    assert len(prepared) == len(registered.registrations)
    gone, nothing = fit(files["unregister"])
    assert (nothing, gone.prune, gone.owner) == ([], True, registered.owner)


def test_parameters_for_all_go_where_they_are_known(tmp_path: Path):
    options = ["--set-json", 'parameters={"gpu_pool": {"pool": "a"}, "s3_secret": "mine", "unheard_of": 1}']
    (made,) = fit(placed("vllm", tmp_path, *options)["registrations"])[1]
    given: dict[str, Any] = dict(made.settings.parameters)
    assert given["gpu_pool"] == {"pool": "a"}
    assert "unheard_of" not in given


def test_a_registrations_own_parameters_must_be_there(tmp_path: Path):
    options = ["--set", "registrations[0].parameters.unheard_of=1"]
    file = placed("default", tmp_path, *options)["registrations"]
    with pytest.raises(PlanError, match=r"nightly: .* has no parameter unheard_of"):
        fit(file)
