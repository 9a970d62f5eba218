"""The images, built and run: what they hold, as whom they run, and an audit with each step in a container."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from images_made import BUILT, ROOT, facts, run
from s3_server import S3Server

import components
from leakscape import artifacts
from leakscape.contract import spec
from leakscape.gate.history import entries
from leakscape.storage import open_place
from pipelines import audit
from pipelines.plan import PLANS, load

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("images")]

COMPONENTS = components.contracts()
LABEL = {"leakscape.test": "kfp"}
HARDENED = ("--read-only", "--network=none", "--cap-drop=all", "--security-opt=no-new-privileges")


def inside(image: str, script: str, *options: str) -> str:
    """What a shell script writes in a container with a read-only root."""
    return run("podman", "run", "--rm", *HARDENED, *options, "--entrypoint", "sh", image, "-c", script)


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_component_answers_as_nobody_in_a_read_only_root(images: dict[str, str], name: str):
    image = images[spec(COMPONENTS[name]).image]
    shown = run("podman", "run", "--rm", *HARDENED, "--user=1000:0", image, name, "--help")
    assert spec(COMPONENTS[name]).summary.split()[0] in shown
    assert "\nexample:\n  leakscape " in shown


@pytest.mark.parametrize("name", BUILT)
def test_the_image_runs_as_user_1000_of_group_0_unless_told_otherwise(images: dict[str, str], name: str):
    script = "id -u; id -g; touch /scratch/a && echo written; touch /opt/leakscape/a 2>/dev/null || echo refused"
    assert inside(images[name], script).split() == ["1000", "0", "written", "refused"]
    # OpenShift gives each namespace a user of its own, in group 0.
    given = inside(images[name], script, "--user=123456:0", "--tmpfs=/scratch:mode=1777")
    assert given.split() == ["123456", "0", "written", "refused"]


@pytest.mark.parametrize("name", BUILT)
def test_no_compiler_no_pip_and_no_package_lists_are_left(images: dict[str, str], name: str):
    names = " -o ".join(f"-name '{found}'" for found in ("pip", "pip-*", "ensurepip", "cc1", "*.whl"))
    script = (
        f"command -v cc gcc g++ ld make pip pip3; ls /var/lib/apt/lists; find / -xdev \\( {names} \\) 2>/dev/null; :"
    )
    assert not inside(images[name], script).split()


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize("name", BUILT)
def test_the_labels_say_what_it_is(name: str):
    labels = facts(name)["Labels"]
    found = {key.removeprefix("org.opencontainers.image."): value for key, value in labels.items()}
    assert found["title"] == f"leakscape {name}"
    assert found["version"] == "0.1.0"
    assert found["licenses"] == "Apache-2.0"
    assert len(found["revision"].removesuffix("-changed")) == 40
    assert found["created"].endswith("Z")
    assert found["description"]


@pytest.mark.usefixtures("images")
def test_nothing_of_the_build_is_in_the_environment():
    environment = facts("base")["Config"]["Env"]
    assert not [entry for entry in environment if entry.startswith("PIP_")]


def test_the_check_in_an_image_s_build_finds_what_is_missing(images: dict[str, str]):
    """The last stage takes its files from the stage that ran it; `tests/images/test_requirements.py` holds that."""
    mounted = ("--volume", f"{ROOT}/images/check.py:/check.py:ro", "--entrypoint", "python")
    command = ["podman", "run", "--rm", *HARDENED, *mounted, images["base"], "-P", "/check.py"]
    assert run(*command, "base").startswith("base: ")
    done = subprocess.run([*command, "evaluate"], capture_output=True, text=True, check=False)
    assert done.returncode
    assert "NotFoundError" in done.stderr


def timeless(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """JSON without what a clock said of the run, and without where it kept its checkpoints."""
    if isinstance(value, dict):
        own = {"wall", "training_seconds", "checkpoint_dir"}
        return {key: timeless(one) for key, one in value.items() if key not in own}
    return [timeless(one) for one in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The laptop plan at its smallest."""
    content: dict[str, Any] = yaml.safe_load((PLANS / "laptop.yaml").read_text(encoding="utf-8"))
    content["conditions"] = [one for one in content["conditions"] if one["name"] in {"none", "direct", "scrub"}]
    content["population"] |= {"train_count": 40, "held_out_count": 20}
    content["canaries"] |= {"count": 4, "multiplicities": [1, 4], "alternatives": 20}
    content["targets"][0]["train"] |= {"epochs": 1, "learning_rate": 0.01}
    content["gate"] = [{"metric": "extraction_rate", "condition": "none", "bound": "low", "at_most": 0.5}]
    content["targets"][0]["evaluate"] = {"membership_records": 20, "extraction_samples": 2}
    file = tmp_path_factory.mktemp("plan") / "laptop.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def reference(plan: Path) -> dict[str, Any]:
    """What the plan measures where each step is a process of this machine."""
    out = plan.parent / "processes"
    run(sys.executable, "-m", "leakscape", "audit", plan, "--out", out)
    return dict(json.loads((out / "landscape.json").read_text(encoding="utf-8")))


@pytest.fixture
def kfp_root(docker_host: str, s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A pipeline root for kfp, which finds podman in Docker's place; containers write there as others of its group.

    They reach this machine's S3 server, and have credentials for it in their environment.
    """
    from docker.models.containers import ContainerCollection
    from kfp import local
    from kfp.local import config

    real = ContainerCollection.run

    def kept(self: ContainerCollection, *arguments: object, **options: object) -> object:
        """kfp 2.17.3 takes a step whose container was removed before it looked for one that went well."""
        return real(self, *arguments, **options | {"auto_remove": False})

    monkeypatch.setattr(ContainerCollection, "run", kept)
    monkeypatch.setattr(config.LocalExecutionConfig, "instance", None)
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    root = tmp_path / "root"
    before = os.umask(0o002)
    root.mkdir()
    runner = local.DockerRunner(
        entrypoint="/usr/bin/env",
        read_only=True,
        network_mode="host",
        # Sums depend on the number of threads: containers get as many as the processes that they are compared with.
        environment=s3.environment() | {name: os.environ[name] for name in {"OMP_NUM_THREADS"} & os.environ.keys()},
        user="1000:0",
        cap_drop=["ALL"],
        labels=LABEL,
    )
    local.init(runner, pipeline_root=str(root))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kfp's, of settings that have no effect here
        yield root
    os.umask(before)
    run("podman", "container", "prune", "--force", *(f"--filter=label={key}={value}" for key, value in LABEL.items()))


def test_kfp_runs_each_step_in_its_own_container(
    images: dict[str, str], kfp_root: Path, plan: Path, reference: dict[str, Any], s3: S3Server
):
    place = s3.place("audit")
    kept = [f"report.history={place}/history", f"targets.0.train.checkpoint_dir={place}/checkpoints"]
    graph = audit.graph(load(str(plan), overrides=kept, contracts=COMPONENTS), COMPONENTS)
    audit.build(graph, COMPONENTS, images)()
    [found] = kfp_root.rglob("landscape/landscape.json")
    assert timeless(json.loads(found.read_text(encoding="utf-8"))) == timeless(reference)
    listed = run("podman", "ps", "--all", "--format={{.Command}}", "--filter=label=leakscape.test")
    assert len(listed.splitlines()) == len(graph.steps)
    with open_place(f"{place}/history") as history:
        (entry,) = entries(history, "laptop", "tiny")
    assert entry.passed
    assert entry.audit == artifacts.read_manifest(found.parent).digest
    trained = {key.partition("/checkpoints/")[2].partition("/")[0] for key in s3.keys(f"{place}/checkpoints")}
    assert len(trained) == 2  # direct and scrub, each in a part of its own


@pytest.mark.usefixtures("kfp_root")
def test_a_step_that_fails_in_its_container_fails_the_pipeline(images: dict[str, str], plan: Path):
    found = load(str(plan), overrides=["population.source=fhir-r4", "population.path=/none"], contracts=COMPONENTS)
    found = found.model_copy(update={"population": found.population | {"content_hash": "0" * 64}})
    with pytest.raises(RuntimeError):
        audit.build(audit.graph(found, COMPONENTS), COMPONENTS, images)()
