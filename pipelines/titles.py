"""What steps are called in a list."""

from dataclasses import replace
from typing import TYPE_CHECKING

from leakscape.contract import spec
from pipelines.parameters import EVALUATE, SHARD, SHARDS, Contracts, trains
from pipelines.schema import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.compose import Step


def titled(steps: "Sequence[Step]", plan: Plan, contracts: Contracts) -> "tuple[Step, ...]":
    """Give every step a title of its own; equal ones are numbered."""
    taken: dict[str, int] = {}
    found = []
    for step in steps:
        title = _title(step, plan, scoped=step.component == EVALUATE or trains(spec(contracts[step.component])))
        taken[title] = number = taken.get(title, 0) + 1
        found.append(replace(step, title=title if number == 1 else f"{title} {number}"))
    return tuple(found)


def _title(step: "Step", plan: Plan, *, scoped: bool) -> str:
    """`target · condition · step`; a step on the corpus serves all targets and names none."""
    shard = step.parameters.get(SHARD, 0)
    parts = [f"{step.component} {shard}/{step.parameters[SHARDS]}" if shard else step.component]
    if step.conditions:
        several = len(plan.conditions) > len(step.conditions) > 3  # noqa: PLR2004 - more names than a title holds
        parts.insert(0, f"{len(step.conditions)} conditions" if several else ", ".join(step.conditions))
    if scoped and step.targets:
        parts.insert(0, ", ".join(step.targets))
    return " · ".join(parts)
