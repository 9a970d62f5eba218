"""`leakscape verify`."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leakscape.cli.common import add_json, answer, answer_json, command
from leakscape.errors import EXIT_DONE, InputError


def add(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Add the command."""
    made = command(
        commands,
        "verify",
        _verify,
        "Check the hashes of artifacts and show how they were made.",
        "leakscape verify audits/laptop",
    )
    made.add_argument(
        "artifacts", metavar="ARTIFACT", nargs="+", type=Path, help="an artifact, or a folder with artifacts in it"
    )
    add_json(made)


def _verify(arguments: argparse.Namespace) -> int:
    from leakscape.artifacts import load, read_manifest

    rows = []
    for path in _artifacts(arguments.artifacts):
        manifest = load(path, schema=read_manifest(path).schema).manifest
        rows.append(
            {
                "artifact": str(path),
                "schema": manifest.schema,
                "digest": manifest.digest,
                "files": {name: entry.sha256 for name, entry in manifest.files.items()},
                "component": manifest.component,
                "arguments": manifest.arguments,
                "inputs": manifest.inputs,
                "versions": manifest.versions,
                "seconds": manifest.seconds,
            }
        )
    if arguments.json:
        answer_json(rows)
        return EXIT_DONE
    for row in rows:
        _print_artifact(row)
    return EXIT_DONE


def _artifacts(paths: Sequence[Path]) -> list[Path]:
    from leakscape.artifacts import MANIFEST

    found = []
    for path in paths:
        below = sorted(file.parent.relative_to(path) for file in path.rglob(MANIFEST))
        # The store of finished steps is hidden: it holds the same artifacts once more.
        shown = [path / part for part in below if not any(name.startswith(".") for name in part.parts)]
        inside = [path] if (path / MANIFEST).is_file() else shown
        if not inside:
            raise InputError(f"{path} is no artifact and holds none: there is no {MANIFEST} in it.")
        found.extend(inside)
    return found


def _print_artifact(row: dict[str, Any]) -> None:
    answer(f"{row['artifact']}: intact")
    answer(f"  schema     {row['schema']}\n  digest     {row['digest']}\n  made by    {row['component']}")
    for name in ("arguments", "inputs", "versions"):
        answer(f"  {name:<10} {json.dumps(row[name], ensure_ascii=False)}")
