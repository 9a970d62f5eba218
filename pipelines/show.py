"""A graph for people: the tree of steps on a terminal, and the same as plain values."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipelines.compose import Graph, Step, stages
from pipelines.parameters import LANDSCAPE, POPULATION
from pipelines.power import dealt

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
    return printed([_headline(graph), _table(graph), _totals(graph)], width)


def printed(parts: Sequence[object], width: int = _WIDTH) -> str:
    """Texts and tables one below the other, without colour and without blanks at the ends of lines."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False, markup=False)
    for part in parts:
        console.print(part)
    written = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in written.splitlines())


def table(*headings: str, numbers: Sequence[str] = ("#",)) -> "Table":
    """An empty table; the columns of numbers stand at the right."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        made.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    return made


def _headline(graph: Graph) -> str:
    return f"{graph.name}: {graph.description}" if graph.description else graph.name


def _table(graph: Graph) -> "Table":
    made = table("#", "step", "waits for", "used by")
    number = {step.id: index for index, step in enumerate(graph.steps, start=1)}
    for depth, step in stages(graph):
        needs = _ranges([number[name] for name in step.needs])
        indent = "" if step.component == LANDSCAPE else "  " * depth
        made.add_row(str(number[step.id]), indent + step.title, needs, _used_by(step))
    return made


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
    """How many records train, by population and canaries; '' if that hangs on the data."""
    records: int = graph.step(POPULATION).parameters.get("train_count", 0)
    if not records:
        return ""
    groups = dealt(graph)
    planted = [times for times in sorted(groups) if times]
    copies = sum(times * count for times, count in groups.items())
    out = f", {groups[0]} more left out by coins" if groups[0] else ""
    word = "group" if len(planted) == 1 else "groups"
    return (
        f"{records:,} records and {groups.total() - groups[0]} canaries in {len(planted)} {word} "
        f"(x{', x'.join(map(str, planted))}; {copies:,} copies{out}): {records + copies:,} training instances before "
        "any rewriting."
    )
