"""The user's commands, each group in a module of its own, and each component by its name."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from leakscape import __version__
from leakscape.arguments import Help
from leakscape.cli import cluster, gate, plans, selftest, verify
from leakscape.errors import EXIT_BROKEN_PIPE, EXIT_INPUT, EXIT_INTERRUPTED, LeakscapeError
from leakscape.progress import say

if TYPE_CHECKING:
    from leakscape.cli.common import Command

_GROUPS = (plans, cluster, gate, verify, selftest)
"""Each adds its commands, in the order of the help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 2 wrong use or input, 3 the gate failed, 75 try again."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except LeakscapeError as error:
        say(f"leakscape: {error}")
        return error.exit_code
    except BrokenPipeError:
        # A reader (`| head`) went away; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except OSError as error:
        say(f"leakscape: {error.filename or 'the disk'}: {error.strerror}.")
        return EXIT_INPUT
    except KeyboardInterrupt:
        say("leakscape: interrupted; finished steps are kept.")
        return EXIT_INTERRUPTED


def _dispatch(argv: list[str]) -> int:
    if argv and argv[0] in component_names():
        from leakscape.entrypoint import run_component

        return run_component(argv[0], argv[1:])
    arguments = parser().parse_args(argv)
    if not hasattr(arguments, "command"):
        arguments.help_of.print_help(sys.stderr)
        return EXIT_INPUT
    command: Command = arguments.command
    return command(arguments)


def component_names() -> list[str]:
    """The components that this installation brings, in alphabetical order."""
    import pkgutil

    import components

    return sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(components.__path__))


def parser() -> argparse.ArgumentParser:
    """The command line of all commands; the components' own are `leakscape COMPONENT --help`."""
    top = argparse.ArgumentParser(
        prog="leakscape",
        formatter_class=Help,
        description="Measures how much a fine-tuned language model memorises, and what each defence costs.",
        epilog="Components, each with its own --help:\n  "
        + "\n  ".join(component_names())
        + "\n\nexample:\n  leakscape audit laptop",
    )
    top.add_argument("--version", action="version", version=f"leakscape {__version__}")
    top.set_defaults(help_of=top)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for group in _GROUPS:
        group.add(commands)
    return top
