"""What a figure of a landscape is: estimates, differences, ranks, correlations."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure from n canaries, records, people or items.

    `low` and `high` are null where fewer than two tell no spread; `high` alone where nothing bounds the figure above:
    where it is too large for a number, and of a lower bound.
    """

    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def alone(self) -> "Estimate":
        """Without whatever a subclass adds."""
        return Estimate(value=self.value, low=self.low, high=self.high, n=self.n)


@dataclass(frozen=True, kw_only=True)
class Figure(Estimate):
    """A metric of a condition, over all and by multiplicity.

    Canaries that a coin left out stand under multiplicity 0 alone; the figure over all does not count them.
    """

    by_multiplicity: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GroupDifference(Estimate):
    """A paired difference within one multiplicity.

    Args:
        p: two-sided sign-flip test within the group; n canaries can't go below 2^(1-n).
        p_holm: p corrected over all pairs of condition and multiplicity that are compared with this reference by this
            metric: a leak at one multiplicity is claimed by this. Canaries that a coin left out (multiplicity 0) are a
            family of their own.
    """

    p: float
    p_holm: float


@dataclass(frozen=True, kw_only=True)
class Difference(Estimate):
    """A metric against the same one of a reference condition, paired by canary or record.

    Args:
        scale: `ratio` (this condition over the reference; 1 is no difference) or `difference` (0 is none).
        p: two-sided sign-flip test.
        p_holm: p corrected over the conditions that are compared with this reference by this metric.
        by_multiplicity: the same within each multiplicity.
    """

    scale: Literal["ratio", "difference"]
    p: float
    p_holm: float
    by_multiplicity: dict[str, GroupDifference] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Unmeasured:
    """A metric that has no figure, and why."""

    metric: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Rank:
    """The mean rank over the metrics of a side, 1 the best, and where it lies in resamples."""

    value: float
    low: float
    high: float
    metrics: int


@dataclass(frozen=True, kw_only=True)
class Correlation(Estimate):
    """Spearman's coefficient of two metrics over the conditions (n).

    `low` and `high` tell what other conditions would have given; `drawn_low` and `drawn_high` what other canaries and
    records would have. `x` and `y` name metrics; `p` is two-sided, by permutation.
    """

    x: str
    y: str
    p: float
    drawn_low: float | None
    drawn_high: float | None
