"""Shares of secrets that a model went on to tell, with exact binomial intervals.

What is counted is a canary, the unit that varies: several samples of one canary are no independent trials of how many
secrets can be had. Canaries that a coin left out were never trained on; they stand apart as what guessing gives.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from leakscape.scoring.attack_rows import ExtractionRow
from leakscape.statistics.binomial import share_interval


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of `whole` canaries, with the Clopper-Pearson interval."""

    value: float
    low: float
    high: float
    part: int
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionFigures:
    """One way to count.

    Args:
        name: of `WAYS`.
        planted: over canaries with copies; None where there is none.
        left_out: over canaries without; None where there is none.
        by_multiplicity: over the canaries with so many copies.
    """

    name: str
    planted: Share | None
    left_out: Share | None
    by_multiplicity: dict[int, Share]


WAYS: Mapping[str, Callable[[ExtractionRow], bool]] = {
    "greedy_exact": lambda row: row.number == 0 and row.exact,
    "greedy_near": lambda row: row.number == 0 and row.near,
    "sampled_exact": lambda row: row.number > 0 and row.exact,
    "sampled_near": lambda row: row.number > 0 and row.near,
}
"""What makes a canary extracted: its greedy continuation hits, or at least one of its samples does."""


def extraction_figures(rows: Iterable[ExtractionRow], *, confidence: float = 0.95) -> list[ExtractionFigures]:
    """Count extracted canaries in each of the `WAYS`.

    Args:
        rows: of one condition, from `leakscape.scoring.attack_rows.read_extractions`.
        confidence: two-sided level.

    Returns:
        One a way, in their order; an empty list where there are no rows.
    """
    rows = tuple(rows)
    copies = {row.id: row.multiplicity for row in rows}
    return [_figures(name, hit, rows, copies, confidence) for name, hit in WAYS.items() if rows]


def _figures(
    name: str,
    hit: Callable[[ExtractionRow], bool],
    rows: Sequence[ExtractionRow],
    copies: Mapping[str, int],
    confidence: float,
) -> ExtractionFigures:
    extracted = {row.id for row in rows if hit(row)}

    def share(multiplicities: set[int]) -> Share | None:
        counted = {canary for canary, times in copies.items() if times in multiplicities}
        if not counted:
            return None
        part, whole = len(counted & extracted), len(counted)
        return Share(part / whole, *share_interval(part, whole, confidence=confidence), part, whole)

    planted = set(copies.values()) - {0}
    groups = {times: share({times}) for times in sorted(planted)}
    return ExtractionFigures(
        name=name,
        planted=share(planted),
        left_out=share({0}),
        by_multiplicity={times: found for times, found in groups.items() if found is not None},
    )
