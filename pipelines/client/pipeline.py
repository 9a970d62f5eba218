"""A plan's pipeline on the server: one name, and a version for each content."""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leakscape import __version__
from leakscape.errors import InputError
from pipelines.audit import compile_to
from pipelines.client.connection import Connection
from pipelines.cluster import pipeline_name
from pipelines.compose import Graph
from pipelines.parameters import Contracts

_KINDS = {
    "STRING": str,
    "STRUCT": dict,
    "LIST": list,
    "NUMBER_INTEGER": int,
    "NUMBER_DOUBLE": float,
    "BOOLEAN": bool,
}


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A pipeline as the server takes it.

    Args:
        name: of the pipeline.
        description: of the plan.
        content: the YAML.
        inputs: the type of each parameter that a run may be given.
        service_account: that the plan's placement names.
    """

    name: str
    description: str
    content: bytes
    inputs: Mapping[str, type]
    service_account: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the YAML: equal plans, versions and images have equal digests."""
        return hashlib.sha256(self.content).hexdigest()

    def checked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of a run, if the pipeline has them.

        Raises:
            InputError: one is not there, or of another type.
        """
        for name, value in parameters.items():
            if name not in self.inputs:
                known = ", ".join(self.inputs) or "none"
                raise InputError(f"{self.name} has no parameter {name}; there are {known}.")
            if not isinstance(value, self.inputs[name]):
                raise InputError(f"the parameter {name} must be a {self.inputs[name].__name__}, as its default is.")
        return dict(parameters)


@dataclass(frozen=True, kw_only=True)
class Uploaded:
    """A pipeline on the server.

    Args:
        pipeline_id, version_id: the server's own.
        version: its name.
        new: whether the version was not there before.
        first: whether there was no version at all.
    """

    pipeline_id: str
    version_id: str
    version: str
    new: bool
    first: bool = False


def compiled(found: Graph, contracts: Contracts, images: Mapping[str, str]) -> Compiled:
    """Compile a graph for the server; errors as `pipelines.audit.compile_to` has them."""
    import yaml

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pipeline.yaml"
        compile_to(found, contracts, path, images)
        content = path.read_bytes()
    root = next(yaml.safe_load_all(content))["root"]
    inputs = root.get("inputDefinitions", {}).get("parameters", {})
    return Compiled(
        name=pipeline_name(found),
        description=found.description,
        content=content,
        inputs={name: _KINDS[entry["parameterType"]] for name, entry in inputs.items()},
        service_account=found.placement.service_account,
    )


def find(connection: Connection, name: str) -> str:
    """The id of the pipeline of this name; '' if there is none."""
    named = connection.all(
        "pipeline", "list_pipelines", "pipelines", namespace=connection.user, filter=equal("display_name", name)
    )
    return next((str(found.pipeline_id) for found in named if found.display_name == name), "")


def upload(connection: Connection, made: Compiled) -> Uploaded:
    """See that the server's latest version of a pipeline is this one; nothing is sent if it is."""
    pipeline_id = find(connection, made.name)
    taken = _versions(connection, pipeline_id) if pipeline_id else []
    wanted = f"{__version__}-{made.digest[:12]}"
    if taken and _is(taken[0].display_name, wanted):
        version = taken[0]
        return Uploaded(
            pipeline_id=pipeline_id, version_id=version.pipeline_version_id, version=version.display_name, new=False
        )
    # A content that comes back after another one needs a name of its own, so that it is the latest again.
    again = sum(_is(version.display_name, wanted) for version in taken)
    name = f"{wanted}-{again + 1}" if again else wanted
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{made.name}.yaml"
        path.write_bytes(made.content)
        if not pipeline_id:
            first = connection.ask("pipeline", "create_pipeline", _pipeline(connection, made))
            pipeline_id = str(first.pipeline_id)
        version = connection.ask(
            "pipeline_upload",
            "upload_pipeline_version",
            str(path),
            name=name,
            display_name=name,
            pipelineid=pipeline_id,
        )
    return Uploaded(
        pipeline_id=pipeline_id, version_id=version.pipeline_version_id, version=name, new=True, first=not taken
    )


def equal(key: str, value: str) -> str:
    """A filter of the server's lists: one field equals a text."""
    return json.dumps({"predicates": [{"operation": "EQUALS", "key": key, "stringValue": value}]})


def _is(name: str, wanted: str) -> bool:
    return name == wanted or name.startswith(f"{wanted}-")


def _versions(connection: Connection, pipeline_id: str) -> list[Any]:
    """The versions of a pipeline, the latest first."""
    return list(
        connection.all(
            "pipeline", "list_pipeline_versions", "pipeline_versions", pipeline_id, sort_by="created_at desc"
        )
    )


def _pipeline(connection: Connection, made: Compiled) -> Any:  # noqa: ANN401 - a generated class without types
    import kfp_server_api

    return kfp_server_api.V2beta1Pipeline(
        name=made.name, display_name=made.name, description=made.description, namespace=connection.user or None
    )
