"""Write docs/cli.md from the commands' own --help: `python tools/cli_docs.py`."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from leakscape import cli

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"

_INTRODUCTION = """\
# Commands

<!-- Written by tools/cli_docs.py from --help; do not edit. -->

Answers go to stdout, everything else to stderr. Exit codes: 0 done; 2 wrong use or input; 3 the gate failed; 75 a
service was busy, try again; 130 interrupted; anything else is a fault of leakscape. What PLAN may hold is in
[plans](plans.md); the components' own commands are in the README of each.
"""


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and all below it, in the order of the help."""
    yield parser
    for action in parser._actions:  # noqa: SLF001 - argparse offers no other way to its subcommands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for below in action.choices.values():
                yield from commands(below)


def page() -> str:
    """The page's text."""
    sections = [_INTRODUCTION]
    sections += [f"## {one.prog}\n\n```\n{one.format_help().strip()}\n```\n" for one in commands(cli.parser())]
    return "\n".join(sections)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
