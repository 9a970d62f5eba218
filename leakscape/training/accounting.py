"""How much noise a privacy budget asks for, and how much budget a run has spent.

DP-SGD (Abadi et al. 2016) with Poisson sampling. Checked values, paper 000's run (7,340 instances, expected lot 512,
28 steps, delta 1e-5): epsilon 8 asks for sigma 0.639 by PRV and 0.688 by RDP.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Literal

from leakscape.errors import InputError

Accountant = Literal["prv", "rdp"]

_TOLERANCE = 0.01
"""The calibration stops once the budget is used up to this share."""

_MOST_NOISE = 1e6

_PRV_LIMIT = 100.0
"""Above this epsilon PRV takes minutes (its grid grows with epsilon) for a bound that says nothing."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How a run samples.

    Args:
        units: how many privacy units there are (records, or patients).
        sample_rate: the chance that a unit is in a lot.
        steps: how many lots are drawn; each is accounted, an empty one too.
    """

    units: int
    sample_rate: float
    steps: int

    @property
    def expected_lot(self) -> float:
        """How many units a lot holds on average: what the clipped sum is divided by, whatever was drawn."""
        return self.sample_rate * self.units


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a run spends: (epsilon, delta), at noise multiplier sigma, by which accountant."""

    epsilon: float
    delta: float
    sigma: float
    accountant: Accountant


def schedule(*, units: int, lot: float, epochs: float) -> Schedule:
    """The lots of a run: rate lot / units, and as many steps as fit into the epochs.

    Paper 000: 7,340 units, lot 512, two epochs give rate 0.0698 and 28 steps.

    Raises:
        InputError: the lot is larger than the data, or not one step fits.
    """
    if units < 1:
        raise InputError("there is nothing to train on: the corpus is empty.")
    if lot > units:
        raise InputError(f"--lot {lot:g} is larger than the {units} units to draw from; choose a smaller lot.")
    steps = math.floor(epochs * units / lot)
    if steps < 1:
        raise InputError(f"{epochs:g} epochs of {units} units in lots of {lot:g} give no step; train for longer.")
    return Schedule(units=units, sample_rate=lot / units, steps=steps)


def calibrate(*, epsilon: float, delta: float, plan: Schedule) -> Budget:
    """The smallest noise that keeps a run within (epsilon, delta).

    PRV is tighter and tried first; where it can't answer (it may fail at large epsilon), RDP is used and named.

    Raises:
        InputError: the budget is not a positive finite epsilon with a delta between 0 and 1, or no noise is enough.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise InputError(
            f"--epsilon must be positive and finite, not {epsilon:g}; to train without noise use --control."
        )
    if not 0 < delta < 1:
        raise InputError(f"--delta must lie between 0 and 1, not {delta:g}.")
    for accountant in _accountants(epsilon):
        found = _least_noise(accountant, epsilon, delta, plan)
        if found is not None:
            return found
    raise InputError(f"no noise keeps this run within epsilon {epsilon:g}; take fewer steps or a smaller lot.")


def spent(*, sigma: float, delta: float, plan: Schedule) -> Budget:
    """What a run with a given noise spends; PRV first, RDP where PRV can't answer.

    Raises:
        InputError: sigma is not positive: such a run has no finite epsilon.
    """
    if not (math.isfinite(sigma) and sigma > 0):
        raise InputError(f"a run with noise multiplier {sigma:g} has no finite epsilon.")
    for accountant in ("prv", "rdp"):
        epsilon = _epsilon(accountant, sigma, delta, plan)
        if epsilon is not None:
            return Budget(epsilon=epsilon, delta=delta, sigma=sigma, accountant=accountant)
    raise InputError(f"no accountant can tell what noise multiplier {sigma:g} spends here.")


def _accountants(epsilon: float) -> tuple[Accountant, ...]:
    return ("prv", "rdp") if epsilon <= _PRV_LIMIT else ("rdp",)


def _least_noise(accountant: Accountant, epsilon: float, delta: float, plan: Schedule) -> Budget | None:
    """Bisect for the noise whose epsilon is just below the wanted one; None where the accountant gives up."""
    high = 1.0
    while (found := _epsilon(accountant, high, delta, plan)) is None or found > epsilon:
        if found is None or high > _MOST_NOISE:
            return None
        high *= 2
    low = 0.0
    best = found
    while epsilon - best > _TOLERANCE * epsilon and high - low > 1e-4 * high:
        middle = (low + high) / 2
        found = _epsilon(accountant, middle, delta, plan)
        if found is not None and found <= epsilon:
            high, best = middle, found
        else:
            low = middle
    return Budget(epsilon=best, delta=delta, sigma=high, accountant=accountant)


def _epsilon(accountant: str, sigma: float, delta: float, plan: Schedule) -> float | None:
    from opacus.accountants import create_accountant

    ledger = create_accountant(mechanism=accountant)
    ledger.history = [(sigma, plan.sample_rate, plan.steps)]
    try:
        with warnings.catch_warnings():
            # RDP warns where its best order is the first or last it tries; its bound holds all the same.
            warnings.simplefilter("ignore")
            value = float(ledger.get_epsilon(delta=delta))
    except (RuntimeError, ValueError, OverflowError, MemoryError):
        return None
    return value if math.isfinite(value) else None
