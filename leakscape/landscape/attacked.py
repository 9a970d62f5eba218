"""What a landscape says of attacks on a model: membership, extraction, the bound that coins give on epsilon."""

from dataclasses import dataclass, field
from typing import Literal

from leakscape.landscape.figures import Estimate


@dataclass(frozen=True, kw_only=True)
class Detected(Estimate):
    """The share of members (n) that an attack finds where at most `allowed` of the others raise a false alarm.

    `resolved` is false where the others are too few for one of them to be that share: nothing is then known of how
    rarely one passes the threshold.
    """

    allowed: float
    resolved: bool


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A membership attack on one kind of member.

    Args:
        attack: its name.
        primary: whether it is the one, named in advance, that `metrics` and the bound on epsilon use.
        members, others: `canary` or `record`: who is told from whom.
        auc: area under the curve; n counts members.
        others_count: how many others there are.
        detected: at a false-positive rate of 1 % and of 0.1 %.
        curve: false-positive and true-positive rate, at most 200 points.
        by_multiplicity: the area for the canaries with so many copies.
    """

    attack: str
    primary: bool
    members: Literal["canary", "record"]
    others: Literal["canary", "record"]
    auc: Estimate
    others_count: int
    detected: list[Detected]
    curve: list[tuple[float, float]]
    by_multiplicity: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """The share of canaries that the model told when it went on where the secret begins, in one way to count.

    Args:
        way: `greedy_exact`, `greedy_near`, `sampled_exact` or `sampled_near`.
        planted: of the canaries with copies; null where there is none.
        left_out: of the canaries that a coin left out; null where there is none.
        by_multiplicity: of the canaries with so many copies.
    """

    way: str
    planted: Estimate | None
    left_out: Estimate | None
    by_multiplicity: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EpsilonBound:
    """What the canaries' coins show: epsilon is at least this (Steinke et al. 2023).

    `copies` lists the multiplicities of the canaries that are in: only where it is [1] does the bound hold for a single
    record.
    """

    attack: str
    epsilon: float
    canaries: int
    guesses: int
    right: int
    delta: float
    confidence: float
    copies: list[int]
