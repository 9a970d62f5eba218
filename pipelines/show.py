"""A graph for people: the tree of steps on a terminal, and the same as plain values."""

import io
from typing import TYPE_CHECKING, Any

from pipelines.compose import Graph, Step, stages
from pipelines.parameters import CANARIES, LANDSCAPE, POPULATION

if TYPE_CHECKING:
    from rich.table import Table

_WIDTH = 110


def outline(graph: Graph) -> dict[str, Any]:
    """The graph as JSON values, parameters included."""
    return {
        "name": graph.name,
        "description": graph.description,
        "steps_without_sharing": graph.asked,
        "steps": [
            {
                "id": step.id,
                "title": step.title,
                "component": step.component,
                "stage": depth,
                "parameters": step.parameters,
                "needs": list(step.needs),
                "targets": list(step.targets),
                "conditions": list(step.conditions),
            }
            for depth, step in stages(graph)
        ],
    }


def text(graph: Graph, *, width: int = _WIDTH) -> str:
    """The graph as a table of steps in their order, with what each waits for and who shares it."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False, markup=False)
    console.print(_headline(graph))
    console.print(_table(graph))
    console.print(_totals(graph))
    written = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in written.splitlines())


def _headline(graph: Graph) -> str:
    return f"{graph.name}: {graph.description}" if graph.description else graph.name


def _table(graph: Graph) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("#", "step", "waits for", "used by"):
        table.add_column(heading, justify="right" if heading == "#" else "left", overflow="fold")
    number = {step.id: index for index, step in enumerate(graph.steps, start=1)}
    for depth, step in stages(graph):
        needs = _ranges([number[name] for name in step.needs])
        indent = "" if step.component == LANDSCAPE else "  " * depth
        table.add_row(str(number[step.id]), indent + step.title, needs, _used_by(step))
    return table


def _used_by(step: Step) -> str:
    return ", ".join(step.conditions) or "all conditions"


def _ranges(numbers: list[int]) -> str:
    """`1, 3-5` for 1, 3, 4, 5."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], number]
        else:
            spans.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)


def _totals(graph: Graph) -> str:
    lines = [f"{len(graph.steps)} steps; {graph.asked} if nothing were shared."]
    if counts := _instances(graph):
        lines.append(counts)
    return "\n".join(lines)


def _instances(graph: Graph) -> str:
    """How many records train, by population and canaries; '' if that hangs on the data or on a draw."""
    population, canaries = graph.step(POPULATION).parameters, graph.step(CANARIES).parameters
    records: int = population.get("train_count", 0)
    count: int = canaries.get("count", 0)
    groups: list[int] = canaries.get("multiplicities", [])
    if not (records and count and groups) or count % len(groups) or canaries.get("inclusion", "all") != "all":
        return ""
    copies = count // len(groups) * sum(groups)
    return (
        f"{records:,} records and {count} canaries in {len(groups)} groups (x{', x'.join(map(str, groups))}; "
        f"{copies:,} copies): {records + copies:,} training instances before any rewriting."
    )
