"""What the user's commands share: how they are added, and how they answer."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leakscape.arguments import Help
from leakscape.progress import say

Command = Callable[[argparse.Namespace], int]

AUDITS = Path("audits")
"""Where audits go unless told otherwise."""

_PLAN_HELP = "a plan's file, or the name of a packaged plan such as `laptop`"


def command(commands: Any, name: str, run: Command | None, summary: str, example: str) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse's own type is private
    """Add a command with its summary and an example; `run` is None for a group of commands."""
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"example:\n  {example}", formatter_class=Help
    )
    made.set_defaults(help_of=made, **({} if run is None else {"command": run}))
    return made


def add_plan_argument(made: argparse.ArgumentParser) -> None:
    """Add PLAN and --set."""
    made.add_argument("plan", metavar="PLAN", help=_PLAN_HELP)
    made.add_argument(
        "--set",
        dest="overrides",
        metavar="KEY.PATH=VALUE",
        action="append",
        default=[],
        help="replace a value of the plan; items of lists by name or number; may be given several times",
    )


def add_images(made: argparse.ArgumentParser) -> None:
    """Add --images and --dev."""
    made.add_argument(
        "--images", metavar="FILE", type=Path, help="where the images lie, like images/digests.yaml (default: that one)"
    )
    made.add_argument("--dev", action="store_true", help="let images without a digest go by their tags")


def images_of(arguments: argparse.Namespace) -> dict[str, str]:
    """The images that a pipeline for a cluster names: by digest, unless --dev was given."""
    from pipelines import images

    names = images.images(arguments.images, dev=arguments.dev)
    if bare := [name for name in names.values() if not images.by_digest(name)]:
        say(f"--dev: {', '.join(bare)} have no digest; a cluster's cache may give results of an older image.")
    return names


def add_json(made: argparse.ArgumentParser) -> None:
    """Add --json."""
    made.add_argument("--json", action="store_true", help="write JSON to stdout")


def graph_of(arguments: argparse.Namespace) -> tuple[Any, dict[str, type[Any]]]:
    """The plan's graph, and the contracts that it was made with."""
    from components import contracts
    from pipelines.audit import graph
    from pipelines.plan import load

    known = contracts()
    return graph(load(arguments.plan, overrides=arguments.overrides, contracts=known), known), known


def answer(line: object) -> None:
    """Write a line to stdout; what its encoding lacks is escaped.

    Where nobody reads it (`| head`, `>&-`) the command goes on, so that its exit code holds: a gate that failed must
    not pass because its reader went away.
    """
    if sys.stdout is None:
        return
    encoding = sys.stdout.encoding or "utf-8"
    shown = str(line).encode(encoding, "backslashreplace").decode(encoding)
    try:
        print(shown, flush=True)  # noqa: T201 - what a command answers goes to stdout
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def answer_json(value: object) -> None:
    """Write a value to stdout as JSON."""
    answer(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))
