"""KFP's executor input and output: what the platform gave a step, and what the step tells it.

The output echoes the URIs that were given, never a local path: the launcher would take a path for the artifact's
place, skip the upload and lose it. It lists every output, because tasks downstream look theirs up there.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leakscape import artifacts
from leakscape.contract import Field, spec
from leakscape.errors import ArtifactError, ContractError, LeakscapeError
from leakscape.typed_json import dump_json, read_json

_NUMBERS = ("metrics", "classification_metrics")


def read_executor_input(text: str) -> dict[str, Any]:
    """Read what KFP puts in place of `{{$}}`.

    Raises:
        ContractError: it is no JSON or names no output file.
    """
    try:
        given: dict[str, Any] = json.loads(text)
        given["outputs"]["outputFile"]
    except (ValueError, KeyError, TypeError):
        raise ContractError("--executor-input must be the JSON that KFP puts in place of {{$}}.") from None
    return given


def executor_output(contract: object, executor_input: Mapping[str, Any]) -> dict[str, Any]:
    """Describe every output that a finished run has written.

    Raises:
        ContractError: the executor input does not name an output of the contract.
        LeakscapeError: an output was not written.
        ArtifactError: an output's manifest or numbers can't be read.
    """
    given = executor_input["outputs"].get("artifacts", {})
    described = {}
    for field in spec(contract).outputs:
        try:
            artifact = given[field.name]["artifacts"][0]
            echoed = {"name": artifact["name"], "uri": artifact["uri"]}
        except (KeyError, IndexError, TypeError):
            raise ContractError(f"--executor-input names no place for the output {field.name}.") from None
        described[field.name] = {"artifacts": [{**echoed, "metadata": metadata(field, getattr(contract, field.name))}]}
    return {"artifacts": described}


def write_executor_output(contract: object, executor_input: Mapping[str, Any]) -> None:
    """Write the executor output where the executor input says; errors as for `executor_output`."""
    file = Path(executor_input["outputs"]["outputFile"])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dump_json(executor_output(contract, executor_input)), encoding="utf-8")


def metadata(field: Field, path: Path) -> dict[str, Any]:
    """What the UI shows beside an artifact: schema, digest and counts of a folder, or the numbers of metrics.

    Raises:
        LeakscapeError: nothing is at `path`.
        ArtifactError: the manifest or the numbers can't be read.
    """
    if not path.exists():
        raise LeakscapeError(f"The step ended without writing {field.flag}; this is a fault of the component.")
    if field.role.kind in _NUMBERS:  # type: ignore[union-attr]
        numbers = read_json(path)
        if not isinstance(numbers, dict):
            raise ArtifactError(f"{path} must hold a JSON dictionary of numbers.")
        return numbers
    if path.is_file():
        return {"sha256": artifacts.hash_file(path)}
    manifest = artifacts.read_manifest(path)
    counts = {Path(name).stem: entry.rows for name, entry in manifest.files.items() if entry.rows is not None}
    return {**counts, "schema": manifest.schema, "digest": manifest.digest}
