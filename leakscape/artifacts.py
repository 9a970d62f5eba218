"""Artifacts: folders with a manifest and a payload.

`manifest.json` names the schema, the SHA-256 of each payload file, the component with its arguments, the digests of
its inputs and the versions of the libraries that made it. Readers verify before they trust. Writers fill a folder
beside the final one and rename it, so a killed step leaves nothing half-written. Nothing is ever unpickled.

    with artifacts.create(path, schema=CORPUS, provenance=provenance) as folder:
        folder.write_rows("records.jsonl", rows)

    with artifacts.create_all({one: ADAPTER, other: LOG}, provenance=provenance) as (adapter, log):
        ...

    corpus = artifacts.load(path, schema=CORPUS)
    for row in corpus.rows("records.jsonl", CorpusRecord):
        ...
"""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from leakscape.beside import beside
from leakscape.errors import ArtifactError
from leakscape.manifest import MANIFEST, FileEntry, Manifest, Provenance, hash_file, read_manifest
from leakscape.typed_json import dump_json, plain, read_json, read_rows

__all__ = [
    "MANIFEST", "Artifact", "FileEntry", "Folder", "Manifest", "Provenance", "copy_tree", "create", "create_all",
    "hash_file", "load", "read_manifest", "write_file",
]  # fmt: skip

T = TypeVar("T")


class Folder:
    """An artifact being written; `create` gives one."""

    def __init__(self, path: Path, *, schema: str, provenance: Provenance) -> None:
        self.path = path
        self._schema, self._provenance = schema, provenance
        self._finished: Manifest | None = None
        self.details: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}
        self._rows: dict[str, int] = {}

    def write_rows(self, name: str, rows: Iterable[object]) -> int:
        """Stream dataclass instances or dictionaries into a JSON Lines file and count them.

        Raises:
            ArtifactError: a row holds NaN or infinity, or text that is not Unicode (a lone surrogate).
        """
        count = 0
        with (self.path / name).open("w", encoding="utf-8", newline="\n") as stream:
            for row in rows:
                count += 1
                try:
                    stream.write(dump_json(plain(row)) + "\n")
                except (ValueError, UnicodeEncodeError):
                    raise ArtifactError(
                        f"{name}, line {count}: a value can't be written as JSON (NaN, infinity or a lone surrogate)."
                    ) from None
        self._rows[name] = count
        return count

    def write_json(self, name: str, value: object) -> None:
        """Write one JSON document, keys sorted.

        Raises:
            ArtifactError: the value holds NaN or infinity.
        """
        try:
            text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
        except ValueError:
            raise ArtifactError(
                f"{name}: JSON never holds NaN or infinity; leave the figure out and say why."
            ) from None
        (self.path / name).write_text(text + "\n", encoding="utf-8", newline="\n")

    def finish(self) -> Manifest:
        """Hash what was written and write the manifest; nothing may be written from then on."""
        if self._finished is None:
            self._finished = Manifest(
                schema=self._schema,
                files=self.entries(),
                component=self._provenance.component,
                arguments=dict(self._provenance.arguments),
                inputs=dict(self._provenance.inputs),
                versions=dict(self._provenance.versions),
                details={**self._provenance.details, **self.details},
                seconds=self.seconds,
            )
            self.write_json(MANIFEST, self._finished)
        return self._finished

    def entries(self) -> dict[str, FileEntry]:
        """Hash every payload file, by its path relative to the folder."""
        files = sorted(path for path in self.path.rglob("*") if path.is_file() and path.name != MANIFEST)
        names = [path.relative_to(self.path).as_posix() for path in files]
        return {
            name: FileEntry(sha256=hash_file(path), bytes=path.stat().st_size, rows=self._rows.get(name))
            for name, path in zip(names, files, strict=True)
        }


@dataclass(frozen=True)
class Artifact:
    """An artifact that was verified."""

    path: Path
    manifest: Manifest

    def file(self, name: str) -> Path:
        """The path of a payload file.

        Raises:
            ArtifactError: the manifest names no such file.
        """
        if name not in self.manifest.files:
            raise ArtifactError(f"{self.path}: {MANIFEST} names no {name}; the artifact was made by another version.")
        return self.path / name

    def rows(self, name: str, kind: type[T]) -> Iterator[T]:
        """Stream a JSON Lines file as instances of `kind`.

        Raises:
            ArtifactError: with the file and line of the first row that does not fit.
        """
        return read_rows(self.file(name), kind)

    def json(self, name: str) -> Any:  # noqa: ANN401
        """Read one JSON document.

        Raises:
            ArtifactError: the file is missing or is no JSON.
        """
        return read_json(self.file(name))

    def count(self, name: str) -> int:
        """How many rows a JSON Lines file has, by the manifest.

        Raises:
            ArtifactError: the manifest names no such file, or no number of rows for it.
        """
        self.file(name)
        rows = self.manifest.files[name].rows
        if rows is None:
            raise ArtifactError(
                f"{self.path}: {MANIFEST} states no number of rows for {name}; make the artifact again."
            )
        return rows


@contextlib.contextmanager
def create(path: Path, *, schema: str, provenance: Provenance) -> Iterator[Folder]:
    """Write an artifact at `path`: all of it, or nothing.

    Raises:
        ArtifactError: something is at `path` already, or a value can't be written as JSON.
    """
    with create_all({path: schema}, provenance=provenance) as (folder,):
        yield folder


@contextlib.contextmanager
def create_all(schemas: Mapping[Path, str], *, provenance: Provenance) -> Iterator[tuple[Folder, ...]]:
    """Write several artifacts: all of them, or none. None has its name before all are whole on the disk.

    Args:
        schemas: of each artifact, by its path; the folders come in this order.
        provenance: of all of them.

    Raises:
        ArtifactError: something is at a path already, or a value can't be written as JSON.
    """
    paths = [Path(path) for path in schemas]
    for path in paths:
        if path.exists() and (path.is_file() or any(path.iterdir())):
            raise ArtifactError(f"{path} exists already; artifacts are never overwritten: choose another place.")
    with contextlib.ExitStack() as stack:
        folders = tuple(
            Folder(stack.enter_context(beside(path)), schema=schema, provenance=provenance)
            for path, schema in zip(paths, schemas.values(), strict=True)
        )
        yield folders
        for folder in folders:
            folder.finish()
        named: list[Path] = []
        try:
            for folder, path in zip(folders, paths, strict=True):
                if path.exists():
                    path.rmdir()
                folder.path.rename(path)
                named.append(path)
        except BaseException:
            for path in named:
                shutil.rmtree(path, ignore_errors=True)
            raise


def load(path: Path, *, schema: str) -> Artifact:
    """Open an artifact and verify its schema and every hash.

    Raises:
        ArtifactError: there is no manifest, the schema is another, or a file is missing, new or changed.
    """
    artifact = Artifact(Path(path), read_manifest(path))
    if artifact.manifest.schema != schema:
        raise ArtifactError(f"{path} holds {artifact.manifest.schema}, but {schema} is needed here.")
    for name, entry in artifact.manifest.files.items():
        file = artifact.path / name
        if not file.is_file():
            raise ArtifactError(f"{file} is missing, though {MANIFEST} names it; fetch or make the artifact again.")
        if hash_file(file) != entry.sha256:
            raise ArtifactError(f"{file} has changed since it was written; fetch or make the artifact again.")
    _refuse_strangers(artifact)
    return artifact


def _refuse_strangers(artifact: Artifact) -> None:
    """A file that the manifest does not name was never hashed; hidden ones are a desktop's or a file system's own."""
    for file in sorted(artifact.path.rglob("*")):
        name = file.relative_to(artifact.path)
        known = name.as_posix() in artifact.manifest.files or name.as_posix() == MANIFEST
        if not known and not file.is_dir() and not any(part.startswith(".") for part in name.parts):
            raise ArtifactError(f"{file} is not named in {MANIFEST}; move it out of the artifact.")


def write_file(path: Path, text: str) -> None:
    """Write an artifact that is a single file for people: beside and renamed, so that a killed step leaves no half.

    A device, a pipe or a link is written through: renaming would put a file in its place.

    Raises:
        ArtifactError: a folder is there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise ArtifactError(f"{path} is a folder; name a file.")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def copy_tree(source: Path, target: Path) -> None:
    """Put an artifact at `target` too, by hard links where the file system allows and by copies elsewhere.

    Artifacts are never changed in place, so sharing bytes is safe.
    """
    with beside(target) as made:
        if source.is_dir():
            shutil.copytree(source, made, copy_function=_link_or_copy, dirs_exist_ok=True)
        else:
            made.rmdir()
            _link_or_copy(str(source), str(made))
        made.rename(target)


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
