"""Membership, extraction and the bound on epsilon, from the rows of one measurement."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from leakscape.landscape.attacked import Attack, Detected, EpsilonBound, Extraction
from leakscape.landscape.catalogue import DETECTIONS
from leakscape.landscape.figures import Estimate, Figure
from leakscape.scoring.attack_rows import AttackRow, ExtractionRow
from leakscape.statistics.extraction import Share, extraction_figures
from leakscape.statistics.membership import AttackFigures, attack_figures, coin_audit, primary
from leakscape.statistics.roc import Area, Detection

Kind = Literal["canary", "record"]

FLAT = ("membership_auc", *DETECTIONS, "canary_membership_auc", "epsilon_lower_bound")
"""The metrics that membership attacks give."""

NOT_RUN = "no membership attack was run"
NOT_TRIED = "extraction was not tried"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """What the membership attacks on one model gave; each of `FLAT` is in `figures` or, with a reason, in `gaps`."""

    attacks: list[Attack] = field(default_factory=list)
    bound: EpsilonBound | None = None
    figures: dict[str, Figure] = field(default_factory=dict)
    gaps: dict[str, str] = field(default_factory=dict)


def attacked(rows: Sequence[AttackRow], *, delta: float, confidence: float) -> Attacked:
    """Figures of all attacks, and flat ones of the attack that was named in advance.

    Args:
        rows: of one condition; none where no attack was run.
        delta: of the claim that the bound on epsilon is held against.
        confidence: of the intervals, two-sided, and of the bound, one-sided.
    """
    if not rows:
        return Attacked(gaps=dict.fromkeys(FLAT, NOT_RUN))
    first = primary(rows)
    found = attack_figures(rows, confidence=confidence)
    bound = _bound(rows, delta, confidence)
    chosen = {figures.kind: figures for figures in found if figures.attack == first}
    flat = {**_of_records(chosen.get("record")), **_of_canaries(chosen.get("canary"))}
    flat["epsilon_lower_bound"] = (
        Figure(value=bound.epsilon, low=bound.epsilon, high=None, n=bound.canaries)
        if bound
        else "no coin left a canary out"
    )
    return Attacked(
        attacks=[_attack(figures, primary=figures.attack == first) for figures in found],
        bound=bound,
        figures={name: item for name, item in flat.items() if isinstance(item, Figure)},
        gaps={name: item for name, item in flat.items() if isinstance(item, str)},
    )


def extracted(rows: Sequence[ExtractionRow], *, confidence: float) -> list[Extraction]:
    """Extraction in every way that was tried."""
    sampled = any(row.number for row in rows)
    return [
        Extraction(
            way=found.name,
            planted=_share(found.planted),
            left_out=_share(found.left_out),
            by_multiplicity={
                str(copies): Estimate(value=share.value, low=share.low, high=share.high, n=share.whole)
                for copies, share in found.by_multiplicity.items()
            },
        )
        for found in extraction_figures(rows, confidence=confidence)
        if sampled or not found.name.startswith("sampled")
    ]


def _bound(rows: Sequence[AttackRow], delta: float, confidence: float) -> EpsilonBound | None:
    audit = coin_audit(rows, delta=delta, confidence=confidence)
    if audit is None:
        return None
    bound = audit.bound
    return EpsilonBound(
        attack=audit.attack, epsilon=bound.epsilon, canaries=bound.canaries, guesses=bound.guesses, right=bound.right,
        delta=bound.delta, confidence=bound.confidence, copies=list(audit.copies),
    )  # fmt: skip


def _attack(found: AttackFigures, *, primary: bool) -> Attack:
    curve = zip(found.curve.false_positive_rates.tolist(), found.curve.true_positive_rates.tolist(), strict=True)
    return Attack(
        attack=found.attack,
        primary=primary,
        members=cast("Kind", found.kind),
        others=cast("Kind", found.others),
        auc=_area(found.area),
        others_count=found.area.others,
        detected=[_detected(detection) for detection in found.detections],
        curve=list(curve),
        by_multiplicity={str(copies): _area(area) for copies, area in found.by_multiplicity.items()},
    )


def _of_records(found: AttackFigures | None) -> dict[str, Figure | str]:
    if found is None:
        return dict.fromkeys(("membership_auc", *DETECTIONS), "the attack named in advance had no records to tell")
    rates = {item.allowed: item for item in found.detections}
    return {
        "membership_auc": _figure(found),
        **{name: _rate(rates[allowed], found.area.others) for name, allowed in DETECTIONS.items()},
    }


def _of_canaries(found: AttackFigures | None) -> dict[str, Figure | str]:
    if found is None:
        return {"canary_membership_auc": "the attack named in advance had no canaries to tell from others"}
    return {"canary_membership_auc": _figure(found)}


def _figure(found: AttackFigures) -> Figure:
    area = _area(found.area)
    parts = {str(copies): _area(part) for copies, part in found.by_multiplicity.items()}
    return Figure(value=area.value, low=area.low, high=area.high, n=area.n, by_multiplicity=parts)


def _rate(found: Detection, others: int) -> Figure | str:
    """A rate that too few others can't show is no figure."""
    if not found.resolved:
        return f"{others} records that were not trained on are too few to show {100 * found.allowed:g} % false alarms"
    return Figure(value=found.value, low=found.low, high=found.high, n=found.members)


def _detected(found: Detection) -> Detected:
    return Detected(
        value=found.value, low=found.low, high=found.high, n=found.members,
        allowed=found.allowed, resolved=found.resolved,
    )  # fmt: skip


def _area(found: Area) -> Estimate:
    return Estimate(value=found.value, low=found.low, high=found.high, n=found.members)


def _share(found: Share | None) -> Estimate | None:
    return Estimate(value=found.value, low=found.low, high=found.high, n=found.whole) if found else None
