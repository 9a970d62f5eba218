"""A condition's figures as flat properties, for a model registry or an experiment tracker."""

import math

from leakscape.errors import InputError
from leakscape.landscape.schema import Condition, Landscape
from leakscape.landscape.verdict import Verdict


def figures(landscape: Landscape, target: str, condition: str) -> dict[str, float]:
    """Each metric of a condition and the ends of its interval: `leakscape.exposure_bits`, `.low` and `.high`.

    Raises:
        InputError: there is no such condition.
    """
    found: dict[str, float] = {}
    for name, figure in _condition(landscape, target, condition).metrics.items():
        for suffix, number in (("", figure.value), (".low", figure.low), (".high", figure.high)):
            if number is not None and math.isfinite(number):
                found[f"leakscape.{name}{suffix}"] = number
    return found


def facts(landscape: Landscape, verdict: Verdict, target: str, condition: str) -> dict[str, str]:
    """What the figures belong to: plan, target, condition, digests, and how the gate ended for this condition.

    Raises:
        InputError: there is no such condition.
    """
    rules = [held for held in verdict.rules if held.target == target and held.condition == condition]
    kept = all(held.kept for held in rules)
    made = _condition(landscape, target, condition).made
    return {
        "leakscape.plan": verdict.plan,
        "leakscape.target": target,
        "leakscape.condition": condition,
        "leakscape.landscape": verdict.landscape,
        "leakscape.measurements": made.measurements,
        "leakscape.adapters": " ".join(made.adapters),
        "leakscape.gate": "none" if not rules else "passed" if kept else "failed",
    }


def _condition(landscape: Landscape, target: str, condition: str) -> Condition:
    for found in landscape.targets:
        for item in found.conditions:
            if (found.name, item.name) == (target, condition):
                return item
    raise InputError(f"the landscape has no condition {condition} of {target}.")
