"""`leakscape audit`, `plan` and `compile`."""

import argparse
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from leakscape.cli.common import (
    AUDITS,
    add_images,
    add_json,
    add_plan_argument,
    answer,
    answer_json,
    command,
    graph_of,
    images_of,
)
from leakscape.errors import EXIT_DONE, InputError
from leakscape.progress import say

_FEWEST_BITS = 0.01  # smaller differences take more than a million canaries


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
        "Check a plan, show the steps that would run and what they share, and say what it can detect.",
        "leakscape plan check my-plan.yaml --set canaries.count=50",
    )
    add_plan_argument(check)
    check.add_argument(
        "--detect",
        metavar="BITS",
        type=_bits,
        action="append",
        help="say how many canaries find this difference in exposure; may be given several times (default: 0.5 and 1)",
    )
    add_json(check)
    cost = command(
        below,
        "cost",
        _plan_cost,
        "Count what a plan would train, ask and score, before anything runs.",
        "leakscape plan cost paper-main --set conditions.rewrite.corpus.0.price_in=1.25",
    )
    add_plan_argument(cost)
    add_json(cost)
    add_json(command(below, "list", _plan_list, "List the packaged plans.", "leakscape plan list"))


def _add_compile(commands: Any) -> None:  # noqa: ANN401
    made = command(
        commands,
        "compile",
        _compile,
        "Write a plan's pipeline as the YAML that Kubeflow runs.",
        "leakscape compile laptop --images our-digests.yaml -o audit.yaml",
    )
    add_plan_argument(made)
    made.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="the YAML file to write")
    add_images(made)


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
    elif result.files:
        say(f"{result.ran} steps ran, {result.reused} were taken from an earlier run. The report:")
        answer(result.files["report.html"])
    return result.exit_code


def _plan_check(arguments: argparse.Namespace) -> int:
    from pipelines import foresight, show
    from pipelines.power import WANTED_BITS, power_of

    graph, _ = graph_of(arguments)
    power = power_of(graph, bits=arguments.detect or WANTED_BITS)
    if arguments.json:
        answer_json({**show.outline(graph), "power": [asdict(one) for one in power]})
    else:
        answer(show.text(graph))
        answer(f"\n{foresight.power_text(power)}")
    return EXIT_DONE


def _plan_cost(arguments: argparse.Namespace) -> int:
    from leakscape.models.size import size_of
    from pipelines import foresight
    from pipelines.cost import cost_of, sample

    graph, _ = graph_of(arguments)
    records = sample()
    models = {step.parameters["model"] for step in graph.steps if step.parameters.get("model")}
    sizes = {model: size_of(model, [record.text for record in records]) for model in models}
    cost = cost_of(graph, sizes, records)
    if arguments.json:
        answer_json({"name": graph.name, **asdict(cost)})
    else:
        answer(foresight.cost_text(cost))
    return EXIT_DONE


def _bits(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not _FEWEST_BITS <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no difference to look for: give bits from {_FEWEST_BITS:g}")
    return value


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
    from pipelines.plan import find

    if arguments.output.suffix not in {".yaml", ".yml"}:
        raise InputError(f"{arguments.output}: a pipeline is written as YAML; name a file that ends with .yaml.")
    if arguments.output.exists() and arguments.output.samefile(find(arguments.plan)):
        raise InputError(f"{arguments.output} is the plan itself; name another file for its pipeline.")
    graph, contracts = graph_of(arguments)
    compile_to(graph, contracts, arguments.output, images_of(arguments))
    answer(arguments.output)
    return EXIT_DONE
