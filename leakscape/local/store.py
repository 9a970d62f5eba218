"""Finished steps, kept to be used again.

    STORE/<key>/step.json          component, seconds, and the hash of each output's description
    STORE/<key>/outputs/<name>     the artifact

An entry is filled beside its place and renamed, so that a killed run leaves none half-written, and of two audits that
finish the same step one keeps its entry and the other drops its own. Artifacts are hard links: an entry costs no
room while the audit that made it is kept. Deleting the store, or any entry, is always safe.
"""

import contextlib
import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leakscape import artifacts
from leakscape.artifacts import MANIFEST
from leakscape.contract import spec
from leakscape.errors import ArtifactError, InputError
from leakscape.local.sources import sources
from leakscape.typed_json import read_json

_STEP = "step.json"
_PARTIAL = ".partial-"
_ACCELERATORS = Path("/proc/driver/nvidia/gpus")
_LARGE = 64 << 20  # bytes
_SECONDS_OF_A_DAY = 86_400


def key_of(contract: object) -> str:
    """The key of a step: equal keys mean equal results.

    It holds the component's source and libraries, its parameters, its inputs as their manifests describe them, and
    the content of files and folders outside that a parameter names (so that a step runs again when they change). What
    a step keeps for itself, a ledger or checkpoints, is no such content: it grows while the step runs.

    Raises:
        ArtifactError: an input has no readable manifest.
    """
    contract_spec = spec(contract)
    found = sources(type(contract).__module__.rpartition(".")[0])
    parameters = {field.name: getattr(contract, field.name) for field in contract_spec.params}
    inputs = {field.name: getattr(contract, field.name) for field in contract_spec.inputs}
    content = {
        "component": contract_spec.name,
        "source": found.digest,
        "libraries": found.versions,
        "python": list(sys.version_info[:2]),
        "machine": [platform.system(), platform.machine(), *_accelerators()],
        "parameters": parameters,
        "inputs": {
            name: [describe(path) for path in value] if isinstance(value, tuple) else describe(value)
            for name, value in inputs.items()
        },
        "outside": {
            name: _outside(value) for name, value in parameters.items() if name not in contract_spec.operational
        },
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def describe(path: Path) -> str:
    """SHA-256 of an artifact's manifest without its timings, or of a file's bytes.

    The manifest names the payload's hashes; unlike its digest, this also covers details that readers use.

    Raises:
        ArtifactError: a folder has no readable manifest.
    """
    if path.is_file():
        return artifacts.hash_file(path)
    artifacts.read_manifest(path)
    manifest = read_json(path / MANIFEST)
    manifest.pop("seconds", None)
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


class Store:
    """A folder of finished steps; several audits may share one.

    Args:
        path: the folder; it is made when the first step is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def fetch(self, key: str, outputs: Mapping[str, Path]) -> float | None:
        """Put a kept step's artifacts in place and give the seconds its making took; None if there is no such step.

        An entry whose bytes no longer fit its hashes is dropped, and the step runs again.

        Args:
            key: of the step.
            outputs: where each output goes, by name; nothing may lie there.
        """
        entry = self.path / key
        if not entry.is_dir():
            return None
        try:
            kept = read_json(entry / _STEP)
            for name in outputs:
                _verify(entry / "outputs" / name, kept["outputs"][name])
            for name, path in outputs.items():
                artifacts.copy_tree(entry / "outputs" / name, path)
            return float(kept["seconds"])
        except (ArtifactError, KeyError, OSError):
            self._drop(entry)
            for path in outputs.values():
                shutil.rmtree(path, ignore_errors=True)
                path.unlink(missing_ok=True)
            return None

    def keep(self, key: str, outputs: Mapping[str, Path], *, component: str, seconds: float) -> None:
        """Keep a finished step.

        Args:
            key: of the step.
            outputs: its artifacts by the output's name.
            component: its component's name, for people who look into the store.
            seconds: how long it took.

        Raises:
            ArtifactError: an output has no readable manifest.
            OSError: the store can't be written.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=self.path) as beside:
            made = Path(beside) / key
            (made / "outputs").mkdir(parents=True)
            for name, path in outputs.items():
                artifacts.copy_tree(path, made / "outputs" / name)
            described = {name: describe(path) for name, path in outputs.items()}
            kept = {"component": component, "outputs": described, "seconds": seconds}
            (made / _STEP).write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
            try:
                made.rename(self.path / key)
            except OSError:
                if not (self.path / key).is_dir():
                    raise

    def sweep(self) -> None:
        """Remove what killed runs left half-filled, once it is a day old and no run can still be filling it."""
        for path in self.path.glob(f"{_PARTIAL}*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _SECONDS_OF_A_DAY:
                    shutil.rmtree(path, ignore_errors=True)

    def _drop(self, entry: Path) -> None:
        """Rename first: another audit sees a whole entry or none."""
        with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=self.path) as beside, contextlib.suppress(OSError):
            entry.rename(Path(beside) / entry.name)


def _verify(path: Path, described: str) -> None:
    if describe(path) != described:
        raise ArtifactError(f"{path} has changed since it was kept.")
    if path.is_dir():
        artifacts.load(path, schema=artifacts.read_manifest(path).schema)


def _accelerators() -> list[str]:
    """What decides whether a step finds an accelerator, and which: figures differ a little between devices."""
    models = [
        line
        for file in sorted(_ACCELERATORS.glob("*/information"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("Model:")
    ]
    return [*models, os.environ.get("CUDA_VISIBLE_DEVICES", "all")]


def _mark(file: Path, root: Path) -> str:
    """What changes when a file does; an error names the folder alone, since a file's name may hold a patient's."""
    try:
        stat = file.stat()
        return f"{stat.st_size} {stat.st_mtime_ns}" if stat.st_size > _LARGE else artifacts.hash_file(file)
    except OSError as error:
        raise InputError(f"{root}, or a file in it, can't be read: {error.strerror}.") from None


def _outside(value: Any) -> str | list[str]:  # noqa: ANN401
    """Digest of what lies at a path that a text parameter names, or each text of a list; '' if it names none.

    Files above 64 MiB, such as model weights, count by size and time of change.
    """
    if isinstance(value, list):
        return [str(_outside(each)) for each in value if isinstance(each, str)]
    if not isinstance(value, str) or not value or "\0" in value:
        return ""
    try:
        root = Path(value)
        files = [root] if root.is_file() else sorted(path for path in root.rglob("*") if path.is_file())
    except OSError:  # a text too long for a file name
        return ""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(root)}\0{_mark(file, root)}\n".encode(errors="surrogateescape"))
    return digest.hexdigest() if files else ""
