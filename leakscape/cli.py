"""The user's commands: `leakscape audit`, `plan`, `compile`, `verify`, and each component by its name."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from leakscape import __version__
from leakscape.arguments import Help
from leakscape.errors import EXIT_DONE, EXIT_INPUT, EXIT_INTERRUPTED, InputError, LeakscapeError
from leakscape.progress import say

AUDITS = Path("audits")

_PLAN_HELP = "a plan's file, or the name of a packaged plan such as `laptop`"

Command = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 2 wrong use or input, 3 the gate failed, 75 try again."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except LeakscapeError as error:
        say(f"leakscape: {error}")
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output (`| head`) went away; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
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
    _add_audit(commands)
    _add_plan(commands)
    _add_compile(commands)
    _add_verify(commands)
    return top


def _command(commands: Any, name: str, run: Command | None, summary: str, example: str) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse's own type is private
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"example:\n  {example}", formatter_class=Help
    )
    made.set_defaults(help_of=made, **({} if run is None else {"command": run}))
    return made


def _add_plan_argument(made: argparse.ArgumentParser) -> None:
    made.add_argument("plan", metavar="PLAN", help=_PLAN_HELP)
    made.add_argument(
        "--set",
        dest="overrides",
        metavar="KEY.PATH=VALUE",
        action="append",
        default=[],
        help="replace a value of the plan; items of lists by name or number; may be given several times",
    )


def _add_json(made: argparse.ArgumentParser) -> None:
    made.add_argument("--json", action="store_true", help="write JSON to stdout")


def _add_audit(commands: Any) -> None:  # noqa: ANN401
    made = _command(
        commands,
        "audit",
        _audit,
        "Run a plan on this machine and print where the report lies.",
        "leakscape audit synthea-csv --set population.path=/data/csv --out audits/hospital",
    )
    _add_plan_argument(made)
    made.add_argument("--out", metavar="DIR", type=Path, help="where everything goes (default: audits/NAME)")
    _add_json(made)


def _add_plan(commands: Any) -> None:  # noqa: ANN401
    plans = _command(commands, "plan", None, "Look at plans.", "leakscape plan check laptop")
    below = plans.add_subparsers(title="commands", metavar="COMMAND")
    check = _command(
        below,
        "check",
        _plan_check,
        "Check a plan and show the steps that would run and what they share.",
        "leakscape plan check my-plan.yaml --set canaries.count=50",
    )
    _add_plan_argument(check)
    _add_json(check)
    _add_json(_command(below, "list", _plan_list, "List the packaged plans.", "leakscape plan list"))


def _add_compile(commands: Any) -> None:  # noqa: ANN401
    made = _command(
        commands,
        "compile",
        _compile,
        "Write a plan's pipeline as the YAML that Kubeflow runs.",
        "leakscape compile laptop -o audit.yaml",
    )
    _add_plan_argument(made)
    made.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="the YAML file to write")


def _add_verify(commands: Any) -> None:  # noqa: ANN401
    made = _command(
        commands,
        "verify",
        _verify,
        "Check the hashes of artifacts and show how they were made.",
        "leakscape verify audits/laptop",
    )
    made.add_argument(
        "artifacts", metavar="ARTIFACT", nargs="+", type=Path, help="an artifact, or a folder with artifacts in it"
    )
    _add_json(made)


def _graph(arguments: argparse.Namespace) -> tuple[Any, dict[str, type[Any]]]:
    """The plan's graph, and the contracts that it was made with."""
    from components import contracts
    from pipelines.audit import graph
    from pipelines.plan import load

    known = contracts()
    return graph(load(arguments.plan, overrides=arguments.overrides, contracts=known), known), known


def _audit(arguments: argparse.Namespace) -> int:
    from pipelines.audit import run_here

    graph, contracts = _graph(arguments)
    out = arguments.out or AUDITS / graph.name
    store = (arguments.out or AUDITS) / ".store"
    result = run_here(graph, contracts, out=out, store=store)
    if arguments.json:
        files = {name: str(path) for name, path in result.files.items()}
        _print_json(
            {
                "plan": graph.name,
                "out": str(out),
                "exit_code": result.exit_code,
                "steps": {"ran": result.ran, "reused": result.reused},
                "files": files,
            }
        )
    elif not result.exit_code:
        say(f"{result.ran} steps ran, {result.reused} were taken from an earlier run. The report:")
        _out(result.files["report.html"])
    return result.exit_code


def _plan_check(arguments: argparse.Namespace) -> int:
    from pipelines import show

    graph, _ = _graph(arguments)
    if arguments.json:
        _print_json(show.outline(graph))
    else:
        _out(show.text(graph))
    return EXIT_DONE


def _plan_list(arguments: argparse.Namespace) -> int:
    from pipelines.plan import packaged
    from pipelines.source import read

    plans = [
        {"name": name, "description": read(path).data.get("description", ""), "path": str(path)}
        for name, path in packaged().items()
    ]
    if arguments.json:
        _print_json(plans)
        return EXIT_DONE
    width = max(len(plan["name"]) for plan in plans)
    for plan in plans:
        _out(f"{plan['name']:<{width}}  {plan['description']}")
    return EXIT_DONE


def _compile(arguments: argparse.Namespace) -> int:
    from pipelines.audit import compile_to

    if arguments.output.suffix not in {".yaml", ".yml"}:
        raise InputError(f"{arguments.output}: a pipeline is written as YAML; name a file that ends with .yaml.")
    graph, contracts = _graph(arguments)
    compile_to(graph, contracts, arguments.output)
    _out(arguments.output)
    return EXIT_DONE


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
        _print_json(rows)
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
    _out(f"{row['artifact']}: intact")
    _out(f"  schema     {row['schema']}\n  digest     {row['digest']}\n  made by    {row['component']}")
    for name in ("arguments", "inputs", "versions"):
        _out(f"  {name:<10} {json.dumps(row[name], ensure_ascii=False)}")


def _out(line: object) -> None:
    """Write a line to stdout; what its encoding lacks is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    print(str(line).encode(encoding, "backslashreplace").decode(encoding))  # noqa: T201 - what a command answers goes to stdout


def _print_json(value: object) -> None:
    _out(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))
