"""Membership attacks: the curves of the primary one, and its areas."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leakscape.landscape.charts.common import (
    DASHED,
    DOTTED,
    WIDTH,
    across,
    color_of,
    legend,
    literal,
    marker_of,
    percent_ticks,
    rows,
)
from leakscape.landscape.schema import Attack, Condition, Target
from leakscape.landscape.svg import LINE, QUIET, canvas, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FLOOR = 5e-4
"""Left and lower end of the logarithmic axes: half of the least false-positive rate that is reported."""


def primary(item: Condition, members: str) -> Attack | None:
    """A condition's attack that was named in advance, on canaries or on records."""
    return next((each for each in item.attacks if each.primary and each.members == members), None)


def roc(target: Target, name: str) -> str:
    """The curves on training records, whole and at few false alarms; on canaries where no record was attacked."""
    members = "record" if any(primary(item, "record") for item in target.conditions) else "canary"
    shown = [
        (number, item, found)
        for number, item in enumerate(target.conditions)
        if (found := primary(item, members)) and found.curve
    ]
    if not shown:
        return ""
    with canvas(WIDTH, 5.4, columns=2) as (figure, (whole, few)):
        for number, _, found in shown:
            _curve(whole, found, number, least=0.0)
            _curve(few, found, number, least=_FLOOR)
        _whole(whole, members)
        _few(few, min(found.others_count for _, _, found in shown))
        legend(figure, target, [item.name for _, item, _ in shown])
        areas = ", ".join(f"{item.name} {found.auc.value:.2f}" for _, item, found in shown)
        return render(
            figure,
            name=name,
            title=f"Membership attack {shown[0][2].attack}, {target.name}",
            description="True positives over false ones for each condition; on the right both axes are logarithmic. "
            f"Areas under the curves: {areas}. The figures stand in the table below.",
        )


def _curve(axes: "Axes", found: Attack, number: int, *, least: float) -> None:
    points = _corners([(max(least, false), max(least, true)) for false, true in found.curve])
    false, true = zip(*points, strict=True)
    every = max(1, len(false) // 7)
    axes.plot(
        false, true, color=color_of(number), linewidth=1.3, marker=marker_of(number), markersize=4.5,
        markevery=(number % every, every),
    )  # fmt: skip


def _corners(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points without those in the middle of a straight step."""
    inner = zip(points, points[1:], points[2:], strict=False)
    kept = [
        here
        for before, here, after in inner
        if not (before[0] == here[0] == after[0] or before[1] == here[1] == after[1])
    ]
    return [points[0], *kept, points[-1]]


def _whole(axes: "Axes", members: str) -> None:
    axes.plot([0, 1], [0, 1], color=QUIET, linestyle=DOTTED, linewidth=1.2, zorder=1)
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.set_xlabel("False alarms: others taken for members")
    axes.set_ylabel("Training records found" if members == "record" else "Canaries found")
    axes.set_title("All thresholds", fontsize=10.5, loc="left")
    percent_ticks(axes, "both")


def _few(axes: "Axes", others: int) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.plot([_FLOOR, 1], [_FLOOR, 1], color=QUIET, linestyle=DOTTED, linewidth=1.2, zorder=1)
    for rate in (0.01, 0.001):
        axes.axvline(rate, color=QUIET, linestyle=DASHED, linewidth=0.9, zorder=1)
    if 1 / others > _FLOOR:
        axes.axvspan(_FLOOR, 1 / others, color=LINE, alpha=0.5, linewidth=0, zorder=0)
        wide = 1 / others > 8 * _FLOOR
        axes.text(
            0.95 / others if wide else _FLOOR * 1.1, _FLOOR * 1.2, f"{others} others are\ntoo few here",
            fontsize=9, color=QUIET, ha="right" if wide else "left",
        )  # fmt: skip
    axes.set_xlim(_FLOOR, 1)
    axes.set_ylim(_FLOOR, 1)
    ticks = [0.001, 0.01, 0.1, 1]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks)
        axis.set_ticks([], minor=True)
    percent_ticks(axes, "both")
    axes.set_xlabel("False alarms (log scale)")
    axes.set_title("At few false alarms (both axes log scale)", fontsize=10.5, loc="left")


def areas(target: Target, name: str) -> str:
    """The primary attack's area under each condition: on records against chance, on canaries against the untouched."""
    kinds = [members for members in ("record", "canary") if any(primary(item, members) for item in target.conditions)]
    if not kinds:
        return ""
    with canvas(WIDTH, 1.2 + 0.33 * len(target.conditions), columns=len(kinds)) as (figure, all_axes):
        for axes, members in zip(all_axes, kinds, strict=True):
            rows(axes, [item.name for item in target.conditions])
            for number, item in enumerate(target.conditions):
                if found := primary(item, members):
                    across(axes, number, found.auc, number)
            reference, words = _reference(target, members)
            if reference is not None:
                axes.axvline(reference, color=QUIET, linestyle=DOTTED, linewidth=1.2, zorder=1)
            axes.set_title(words, fontsize=10.5, loc="left")
            axes.set_xlabel("Area under the curve")
        return render(
            figure,
            name=name,
            title=f"Areas under the curves, {target.name}",
            description="A row for each condition, with intervals: training records on one side, canaries on the "
            "other. The dotted line is what a model shows that never saw them.",
        )


def _reference(target: Target, members: str) -> tuple[float | None, str]:
    """Where the dotted line stands and what the panel is called.

    Canaries differ from held-out records before any training: there the untouched model is the reference, not one half.
    """
    against = {found.others for item in target.conditions if (found := primary(item, members))}
    if members == "record":
        return 0.5, "Training records against unseen ones"
    if against == {"canary"}:
        return 0.5, "Canaries against those left out"
    base = next((item for item in target.conditions if item.name == target.untouched), None)
    found = primary(base, members) if base else None
    untouched = f" (dotted: {literal(base.name)})" if base and found else ""
    return found.auc.value if found else None, f"Canaries against unseen records{untouched}"
