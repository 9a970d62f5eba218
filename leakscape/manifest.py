"""The manifest of an artifact: what its files are, by their hashes, and how they were made."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leakscape.errors import ArtifactError
from leakscape.typed_json import dump_json, read_json, validate

MANIFEST = "manifest.json"
_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How an artifact was made.

    Args:
        component: the component's name.
        arguments: its parameters.
        inputs: the digest of each artifact it read, by the name of the input.
        versions: library versions, by distribution.
        details: what else a reader must know to trace a figure (seeds, counts, prompt hashes, the privacy spent);
            never a value of a record.
    """

    component: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """One payload file: its hash, its size in bytes and, for JSON Lines, its number of rows."""

    sha256: str
    bytes: int
    rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What `manifest.json` holds.

    `seconds` are measured (`wall`, `accelerator`) and therefore take no part in `digest`.
    """

    schema: str
    files: dict[str, FileEntry]
    component: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 over the schema and the payload hashes: equal content, equal digest."""
        content = {"schema": self.schema, "files": {name: entry.sha256 for name, entry in self.files.items()}}
        return hashlib.sha256(dump_json(content).encode()).hexdigest()


def read_manifest(path: Path) -> Manifest:
    """Read an artifact's manifest without verifying its payload.

    Raises:
        ArtifactError: there is none, or it does not fit its schema.
    """
    file = Path(path) / MANIFEST
    if not file.is_file():
        raise ArtifactError(f"{path} is no artifact: it has no {MANIFEST}.")
    manifest = validate(Manifest, json.dumps(read_json(file)), str(file))
    for name in manifest.files:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ArtifactError(f"{file}: a payload file lies outside the artifact.")
    return manifest


def hash_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
