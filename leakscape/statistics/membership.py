"""Figures of membership attacks: how well they tell members from others, and what that says of epsilon.

Two comparisons, kept apart. Training records against held-out ones: both come from one population, so chance is an
area of one half. Canaries with copies against canaries that a coin left out, where there are such; otherwise against
held-out records, which a canary differs from even before training (its last medication is coined): read that area
against the untouched model's, not against one half.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscape.scoring.attack_rows import KINDS, AttackRow
from leakscape.statistics.bootstrap import Floats
from leakscape.statistics.one_run import EpsilonBound, audit
from leakscape.statistics.roc import FALSE_ALARMS, Area, Detection, Roc, area, detection, roc_curve, thinned

PRIMARY = ("min_k_plus_plus", "loss", "reference")
"""The attack that bounds and summaries use, named in advance: the first one that was run.

Min-K%++ corrects for a text's difficulty by the model itself, so the untouched model has it too, and a base model that
is far from the records, a poor reference, does it no harm.
"""

CURVE_POINTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFigures:
    """One attack on one kind of member.

    Args:
        attack: its name.
        kind: of the members, `canary` or `record`.
        others: of the others: the same kind, or `record` where no canary was left out.
        area: under the curve.
        detections: at each of `FALSE_ALARMS`.
        curve: at most `CURVE_POINTS` points.
        by_multiplicity: the area for the canaries with so many copies, against the same others; empty for records.
    """

    attack: str
    kind: str
    others: str
    area: Area
    detections: tuple[Detection, ...]
    curve: Roc
    by_multiplicity: dict[int, Area]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinAudit:
    """A lower bound on epsilon by canaries' coins.

    Args:
        attack: whose scores the guesses follow.
        bound: see `leakscape.statistics.one_run`.
        copies: the multiplicities of the canaries that are in. What epsilon counts is a canary with all its copies:
            only where this is (1,) does the bound hold for a single record.
    """

    attack: str
    bound: EpsilonBound
    copies: tuple[int, ...]


def attack_figures(rows: Iterable[AttackRow], *, confidence: float = 0.95) -> list[AttackFigures]:
    """Figures of every attack and kind that has members and others, in the order of the rows.

    Args:
        rows: of one condition, from `leakscape.scoring.attack_rows.read_attacks`.
        confidence: two-sided level.
    """
    rows = tuple(rows)
    found = (
        _figures(attack, kind, [row for row in rows if row.attack == attack], confidence)
        for attack in dict.fromkeys(row.attack for row in rows)
        for kind in reversed(KINDS)
    )
    return [figures for figures in found if figures is not None]


def primary(rows: Sequence[AttackRow]) -> str:
    """The first of `PRIMARY` that has rows; empty if none has."""
    there = {row.attack for row in rows}
    return next((name for name in PRIMARY if name in there), "")


def coin_audit(
    rows: Iterable[AttackRow], *, delta: float, attack: str = "", confidence: float = 0.95
) -> CoinAudit | None:
    """Bound epsilon from below by the canaries' coins.

    Args:
        rows: of one condition.
        delta: of the claim that the bound is held against.
        attack: whose scores are followed, chosen before they were seen; empty for the primary one.
        confidence: one-sided.

    Returns:
        None where the attack was not run, no coin left a canary out, or fewer than two canaries have a score.
    """
    rows = tuple(rows)
    name = attack or primary(rows)
    canaries = [row for row in rows if row.attack == name and row.kind == "canary"]
    if len(canaries) < 2 or all(row.member for row in canaries):  # noqa: PLR2004 - one guess of each kind
        return None
    bound = audit(_scores(canaries), [row.member for row in canaries], delta=delta, confidence=confidence)
    copies = tuple(sorted({row.multiplicity for row in canaries if row.multiplicity}))
    return CoinAudit(attack=name, bound=bound, copies=copies)


def classification_metrics(rows: Iterable[AttackRow]) -> dict[str, object]:
    """The primary attack's curve on records (on canaries where no record was attacked), as KFP's UI draws it.

    Thresholds are finite there, so the first point's lies just above the highest score.
    """
    rows = tuple(rows)
    shown = [figures for figures in attack_figures(rows) if figures.attack == primary(rows)]
    if not shown:
        return {"confidenceMetrics": []}
    curve = shown[0].curve
    thresholds = np.concatenate([[np.nextafter(curve.thresholds[1], np.inf)], curve.thresholds[1:]])
    points = zip(thresholds, curve.true_positive_rates, curve.false_positive_rates, strict=True)
    return {
        "attack": shown[0].attack,
        "members": shown[0].kind,
        "auc": shown[0].area.value,
        "confidenceMetrics": [
            {"confidenceThreshold": float(threshold), "recall": float(true), "falsePositiveRate": float(false)}
            for threshold, true, false in points
        ],
    }


def _figures(attack: str, kind: str, rows: Sequence[AttackRow], confidence: float) -> AttackFigures | None:
    members = [row for row in rows if row.kind == kind and row.member]
    others = [row for row in rows if row.kind == kind and not row.member]
    against = kind
    if kind == "canary" and not others:
        against, others = "record", [row for row in rows if row.kind == "record" and not row.member]
    if not members or not others:
        return None
    inside, outside = _scores(members), _scores(others)
    copies = np.array([row.multiplicity or 0 for row in members])
    return AttackFigures(
        attack=attack,
        kind=kind,
        others=against,
        area=area(inside, outside, confidence=confidence),
        detections=tuple(detection(inside, outside, allowed=rate, confidence=confidence) for rate in FALSE_ALARMS),
        curve=thinned(roc_curve(inside, outside), CURVE_POINTS),
        by_multiplicity=_by_multiplicity(inside, outside, copies, confidence) if kind == "canary" else {},
    )


def _by_multiplicity(inside: Floats, outside: Floats, copies: NDArray[np.int64], confidence: float) -> dict[int, Area]:
    return {int(times): area(inside[copies == times], outside, confidence=confidence) for times in np.unique(copies)}


def _scores(rows: Sequence[AttackRow]) -> Floats:
    return np.array([row.score for row in rows], dtype=np.float64)
