"""The source that a component's result depends on: its own and whatever of ours it imports.

A step's key holds this digest, so that changing a scoring rule measures again and changing a report's colours does
not. Imports are read from the syntax tree, also those inside functions; those for the type checker alone don't count.
Data files beside an imported module (tables, tokenizers, weights, prompts) count like source.
"""

import ast
import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from leakscape.artifacts import hash_file

_PACKAGES = ("leakscape", "components", "pipelines")
_IGNORED = {".py", ".pyc", ".pyi", ".md"}


@dataclass(frozen=True)
class Sources:
    """What a component's result depends on besides its inputs.

    Args:
        digest: SHA-256 over the source and data files.
        versions: of the libraries that they import or that the component requires; '' where not installed.
    """

    digest: str
    versions: dict[str, str]


@cache
def sources(package: str) -> Sources:
    """Read the sources of a component.

    Args:
        package: the component's package, for example `components.lora_train`.
    """
    files, libraries = _reach(f"{package}.contract", f"{package}.run")
    own = Path(next(file for name, file in files.items() if name == f"{package}.contract")).parent
    libraries |= _required(own / "requirements.in")
    digest = hashlib.sha256()
    for name, file in sorted({**files, **_data(files)}.items()):
        digest.update(f"{name}\0{hash_file(file)}\n".encode())
    return Sources(digest.hexdigest(), {name: _version(name) for name in sorted(libraries)})


def forget() -> None:
    """Read everything anew from now on: source may have changed since the last run of this process."""
    for cached in (sources, _file, _imports, _version):
        cached.cache_clear()


def _reach(*modules: str) -> tuple[dict[str, Path], set[str]]:
    """Follow imports from `modules`: the files of ours by module name, and the names of other packages."""
    files: dict[str, Path] = {}
    libraries: set[str] = set()
    waiting, seen = list(modules), set(modules)
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if top not in _PACKAGES:
            if top not in sys.stdlib_module_names:
                libraries.add(top)
            continue
        file = _file(name)
        if file is None:
            continue
        files[name] = file
        parents = [name[:end] for end, letter in enumerate(name) if letter == "."]
        new = {*_imports(file, name), *parents} - seen
        seen |= new
        waiting += sorted(new)
    return files, libraries


@cache
def _file(name: str) -> Path | None:
    """The source file of one of our modules; None if the name is no module (a class, a function).

    Looked up by path: `importlib.util.find_spec` would run every module above it.
    """
    parent, _, leaf = name.rpartition(".")
    if not parent:
        origin = importlib.import_module(name).__file__
        return Path(origin) if origin else None
    above = _file(parent)
    if above is None or above.name != "__init__.py":
        return None
    folders = [above.parent] if "." in parent else map(Path, importlib.import_module(parent).__path__)
    candidates = (path for folder in folders for path in (folder / leaf / "__init__.py", folder / f"{leaf}.py"))
    return next((path for path in candidates if path.is_file()), None)


@cache
def _imports(file: Path, name: str) -> frozenset[str]:
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    return frozenset(found for node in _runtime(ast.parse(file.read_bytes())) for found in _names(node, package))


def _runtime(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below `node` except what stands under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield other
                yield from _runtime(other)
            continue
        yield child
        yield from _runtime(child)


def _names(node: ast.AST, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = importlib.util.resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
    return [str(base), *(f"{base}.{alias.name}" for alias in node.names)]


def _data(files: dict[str, Path]) -> dict[str, Path]:
    """Data files in the folders of the modules, and below them where no package of its own begins."""
    folders = {file.parent for file in files.values()}
    return {str(file.relative_to(folder.parent)): file for folder in folders for file in _data_in(folder)}


def _data_in(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if not path.name.startswith((".", "__")) and not (path / "__init__.py").exists():
                yield from _data_in(path)
        elif path.suffix not in _IGNORED:
            yield path


def _required(file: Path) -> set[str]:
    if not file.is_file():
        return set()
    lines = (line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return {line for line in lines if line}


@cache
def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return ""
