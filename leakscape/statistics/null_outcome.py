"""What a null test found, and whether it may be so."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

_ERRORS = 4.0  # standard errors of the simulation that an outcome may lie off: 1 in 16,000 by chance
_ROUNDING = 1e-12

Rule = Literal["equal", "at most", "at least"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NullTest:
    """What a null test found.

    Args:
        name: of the test, with its size.
        expected: what theory says.
        observed: what came out.
        error: the simulation's standard error; 0 where nothing was drawn.
        allowance: how far the figure may be off because it is an approximation that is known as one.
        rule: whether `observed` must equal `expected` or keep to one side of it.
        draws: how many.
    """

    name: str
    expected: float
    observed: float
    error: float
    allowance: float = 0.0
    rule: Rule = "equal"
    draws: int

    @property
    def passed(self) -> bool:
        """Whether the outcome lies within the simulation's error and the allowance of where it must; never for NaN."""
        slack = _ERRORS * self.error + self.allowance + _ROUNDING
        low = -math.inf if self.rule == "at most" else self.expected - slack
        high = math.inf if self.rule == "at least" else self.expected + slack
        return low <= self.observed <= high


def rng_of(name: str, seed: int) -> np.random.Generator:
    """The draws of a test: its own whatever other tests there are."""
    return np.random.default_rng([seed, *name.encode()])


def share(
    name: str, hits: Sequence[bool], expected: float, rule: Rule = "equal", *, allowance: float = 0.0
) -> NullTest:
    """A test by the share of draws that hit; its error is the binomial one under what is expected."""
    return NullTest(
        name=name,
        expected=expected,
        observed=float(np.mean(hits)),
        error=math.sqrt(expected * (1 - expected) / len(hits)),
        allowance=allowance,
        rule=rule,
        draws=len(hits),
    )
