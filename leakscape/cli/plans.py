"""`leakscape audit`, `plan` and `compile`."""

import argparse
from pathlib import Path
from typing import Any

from leakscape.cli.common import AUDITS, add_json, add_plan_argument, answer, answer_json, command, graph_of
from leakscape.errors import EXIT_DONE, InputError
from leakscape.progress import say


def add(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Add the commands."""
    _add_audit(commands)
    _add_plan(commands)
    _add_compile(commands)


def _add_audit(commands: Any) -> None:  # noqa: ANN401
    made = command(
        commands,
        "audit",
        _audit,
        "Run a plan on this machine and print where the report lies.",
        "leakscape audit synthea-csv --set population.path=/data/csv --out audits/hospital",
    )
    add_plan_argument(made)
    made.add_argument("--out", metavar="DIR", type=Path, help="where everything goes (default: audits/NAME)")
    add_json(made)


def _add_plan(commands: Any) -> None:  # noqa: ANN401
    plans = command(commands, "plan", None, "Look at plans.", "leakscape plan check laptop")
    below = plans.add_subparsers(title="commands", metavar="COMMAND")
    check = command(
        below,
        "check",
        _plan_check,
        "Check a plan and show the steps that would run and what they share.",
        "leakscape plan check my-plan.yaml --set canaries.count=50",
    )
    add_plan_argument(check)
    add_json(check)
    add_json(command(below, "list", _plan_list, "List the packaged plans.", "leakscape plan list"))


def _add_compile(commands: Any) -> None:  # noqa: ANN401
    made = command(
        commands,
        "compile",
        _compile,
        "Write a plan's pipeline as the YAML that Kubeflow runs.",
        "leakscape compile laptop -o audit.yaml",
    )
    add_plan_argument(made)
    made.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="the YAML file to write")


def _audit(arguments: argparse.Namespace) -> int:
    from pipelines.audit import run_here

    graph, contracts = graph_of(arguments)
    out = arguments.out or AUDITS / graph.name
    store = (arguments.out or AUDITS) / ".store"
    result = run_here(graph, contracts, out=out, store=store)
    if arguments.json:
        files = {name: str(path) for name, path in result.files.items()}
        answer_json(
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
        answer(result.files["report.html"])
    return result.exit_code


def _plan_check(arguments: argparse.Namespace) -> int:
    from pipelines import show

    graph, _ = graph_of(arguments)
    if arguments.json:
        answer_json(show.outline(graph))
    else:
        answer(show.text(graph))
    return EXIT_DONE


def _plan_list(arguments: argparse.Namespace) -> int:
    from pipelines.plan import packaged
    from pipelines.source import read

    plans = [
        {"name": name, "description": read(path).data.get("description", ""), "path": str(path)}
        for name, path in packaged().items()
    ]
    if arguments.json:
        answer_json(plans)
        return EXIT_DONE
    width = max(len(plan["name"]) for plan in plans)
    for plan in plans:
        answer(f"{plan['name']:<{width}}  {plan['description']}")
    return EXIT_DONE


def _compile(arguments: argparse.Namespace) -> int:
    from pipelines.audit import compile_to

    if arguments.output.suffix not in {".yaml", ".yml"}:
        raise InputError(f"{arguments.output}: a pipeline is written as YAML; name a file that ends with .yaml.")
    graph, contracts = graph_of(arguments)
    compile_to(graph, contracts, arguments.output)
    answer(arguments.output)
    return EXIT_DONE
