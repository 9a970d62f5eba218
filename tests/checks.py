"""The programs that check charts, manifests and Containerfiles, from the environment that `make checks` makes."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
BIN = ROOT / os.environ.get("CHECKS", ".venv-checks") / "bin"
VERSIONS = [f"1.{minor}.0" for minor in range(28, 38)]
"""The versions of Kubernetes that chart and manifests must fit."""

WITHOUT_SCHEMA = {"ServiceMonitor"}
"""Kinds that Kubernetes itself does not know; the tests of the chart look at them."""


def program(name: str) -> str:
    """The path of a program.

    Raises:
        FileNotFoundError: the environment was not made.
    """
    found = shutil.which(name, path=str(BIN))
    if found is None:
        raise FileNotFoundError(f"{BIN / name} is missing: run sh tools/checks.sh")
    return found


def run(name: str, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program in the root of the repository."""
    done = subprocess.run(
        [program(name), *map(str, arguments)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LOG_LEVEL": "ERROR"},
    )
    assert not check or done.returncode == 0, f"{name} {arguments}\n{done.stdout}\n{done.stderr}"
    return done


def documents(text: str) -> list[dict[str, Any]]:
    """The objects of a stream of YAML documents."""
    return [document for document in yaml.safe_load_all(text) if document]


def pods(objects: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The pod specs in objects, by kind and name."""
    found = {}
    for one in objects:
        spec = one if one["kind"] == "Pod" else one.get("spec", {}).get("template")
        if spec and "containers" in spec.get("spec", {}):
            found[f"{one['kind']}/{one['metadata']['name']}"] = spec["spec"]
    return found


# Each schema is read once instead of once for each object.
_VALIDATE = """
import functools, json, sys
from kubernetes_validate import utils
utils.schema_contents = functools.cache(utils.schema_contents)
utils.all_versions = functools.cache(utils.all_versions)
versions, objects = json.load(sys.stdin)
found = []
for version in versions:
    for one in objects:
        try:
            assert version.startswith(utils.validate(one, version, strict=True)), "no schemas of this version"
        except utils.ValidationError as error:
            place = ".".join(map(str, error.path))
            found.append(f"{version} {one['kind']}/{one['metadata']['name']}: {place}: {error.message}")
json.dump(found, sys.stdout)
"""


def invalid(objects: Sequence[dict[str, Any]], versions: Sequence[str] = VERSIONS) -> list[str]:
    """What kubernetes-validate, strict, has against objects, in one process for all versions."""
    known = {json.dumps(one): one for one in objects if one["kind"] not in WITHOUT_SCHEMA}
    done = subprocess.run(
        [program("python"), "-c", _VALIDATE],
        input=json.dumps([versions, list(known.values())]),
        check=True,
        capture_output=True,
        text=True,
    )
    found: list[str] = json.loads(done.stdout)
    return found
