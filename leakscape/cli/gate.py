"""`leakscape gate`: a verdict as an exit code, and as the files that CI systems read."""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscape.cli.common import add_json, answer, answer_json, command
from leakscape.errors import EXIT_DONE, EXIT_GATE, InputError

if TYPE_CHECKING:
    from leakscape.landscape.verdict import Verdict


def add(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Add the command."""
    made = command(
        commands,
        "gate",
        _gate,
        "Show a verdict, and exit with 3 if the gate failed.",
        "leakscape gate audits/laptop/verdict.json --junit gate.xml",
    )
    made.add_argument("verdict", metavar="VERDICT", type=Path, help="a verdict.json, or a verdict artifact")
    made.add_argument("--junit", metavar="FILE", type=Path, help="write the rules as test cases in JUnit XML")
    made.add_argument(
        "--summary",
        metavar="FILE",
        type=Path,
        help="add the verdict as Markdown to a file (on GitHub, GITHUB_STEP_SUMMARY is added to without asking)",
    )
    made.add_argument(
        "--openmetrics", metavar="FILE", type=Path, help="write figures and outcome as OpenMetrics; needs --landscape"
    )
    made.add_argument("--landscape", metavar="FILE", type=Path, help="the landscape artifact that was judged")
    add_json(made)


def _gate(arguments: argparse.Namespace) -> int:
    from leakscape.gate.ways_out import summary
    from leakscape.landscape import verdict
    from leakscape.typed_json import plain

    found = verdict.read(arguments.verdict)
    _write_files(arguments, found)
    if arguments.json:
        answer_json(plain(found))
    elif os.environ.get("GITLAB_CI"):
        answer(summary.gitlab_section(found, time=int(time.time())))
        answer(summary.headline(found))
    else:
        answer(summary.text(found))
    return EXIT_DONE if found.passed else EXIT_GATE


def _write_files(arguments: argparse.Namespace, found: "Verdict") -> None:
    from leakscape.gate.ways_out import summary
    from leakscape.gate.ways_out.junit import junit

    if arguments.junit:
        _write(arguments.junit, lambda: junit(found))
    if place := arguments.summary or os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(summary.markdown(found))
    if arguments.openmetrics:
        _write(arguments.openmetrics, lambda: _openmetrics(arguments.landscape, found))


def _openmetrics(landscape: Path | None, found: "Verdict") -> str:
    from leakscape.artifacts import read_manifest
    from leakscape.gate.ways_out.openmetrics import openmetrics
    from leakscape.landscape import schema

    if landscape is None:
        raise InputError("--openmetrics writes the figures of a landscape: name its artifact with --landscape.")
    read = schema.read(landscape)
    if read_manifest(landscape).digest != found.landscape:
        raise InputError(f"{landscape} is another landscape than the verdict's.")
    return openmetrics(read, found)


def _write(path: Path, made: Callable[[], str]) -> None:
    from leakscape.artifacts import write_file

    write_file(path, made())
