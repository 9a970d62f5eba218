"""What a private run may claim, and what a reader must know beside the claim."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leakscape.training.accounting import Budget, Schedule
    from leakscape.training.dataset import Example
    from leakscape.training.dp import NoiseFrom
    from leakscape.training.dp_lots import UnitKind

_FEW_UNITS = 100

_UNIT_MEANS = {
    "record": "Each record of the corpus is one unit, and so is each copy of a canary: a text that stands there "
    "many times is protected once for each copy, not as a whole.",
    "person": "All records of a person are one unit, all copies of a canary too.",
}

_COVERS = (
    "The guarantee is about the adapter alone, and the number of units is taken as public. Losses and drawn lots in "
    "this log come from the records without noise. "
)

_NOISE = {
    "seed": "Noise and lots come from the seed that stands in the manifest: whoever knows it can take the noise away.",
    "system": "Noise and lots come from the system's entropy: this run can't be repeated.",
}


def statement(
    plan: Schedule, *, unit: UnitKind, lot: float, clip: float, budget: Budget | None, noise_from: NoiseFrom = "seed"
) -> dict[str, Any]:
    """The privacy of a run for its log and manifest; every figure that an accountant needs to confirm epsilon.

    Args:
        plan: as it was trained.
        unit: what is protected.
        lot: the expected lot, as it was asked for.
        clip: C.
        budget: what was spent; None for the control, which has no noise and claims no epsilon.
        noise_from: where noise and lots came from.
    """
    stated = {
        "unit": unit,
        "unit_means": _UNIT_MEANS[unit],
        "units": plan.units,
        "expected_lot": lot,
        "sampling_rate": plan.sample_rate,
        "steps": plan.steps,
        "clip": clip,
        "control": budget is None,
        "noise_from": noise_from,
        "sigma": budget.sigma if budget else 0.0,
    }
    if budget:
        covers = _COVERS + _NOISE[noise_from]
        stated |= {"epsilon": budget.epsilon, "delta": budget.delta, "accountant": budget.accountant, "covers": covers}
    return stated


def cautions(plan: Schedule, examples: Sequence[Example], *, unit: UnitKind, budget: Budget | None) -> list[str]:
    """Sentences about a claim that is weaker than it looks; none for the control, which claims nothing."""
    if budget is None:
        return []
    found = []
    if budget.delta * plan.units >= 1:
        found.append(
            f"delta {budget.delta:g} is not below 1/{plan.units}: publishing one whole unit would be within it."
        )
    if plan.units < _FEW_UNITS:
        found.append(f"{plan.units} units are few: what holds on average over lots says little about one run.")
    most = max(Counter(example.person for example in examples).values())
    if unit == "record" and most > 1:
        found.append(f"A person has up to {most} records here, but each record is protected on its own.")
    return found
