"""Capability against privacy."""

from typing import TYPE_CHECKING

from leakscape.landscape.catalogue import CATALOGUE
from leakscape.landscape.charts.common import DASHED, WIDTH, arms, color_of, label, marker_of, plain_ticks
from leakscape.landscape.schema import Estimate, Target
from leakscape.landscape.svg import PAPER, QUIET, canvas, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tradeoff(target: Target, name: str) -> str:
    """A labelled point for each condition; empty where a side was not measured."""
    front = target.front
    if front is None:
        return ""
    points = [
        (number, item, item.metrics[front.capability], item.metrics[front.privacy])
        for number, item in enumerate(target.conditions)
    ]
    with canvas(WIDTH, 5.9) as (figure, (axes,)):
        _scales(axes, front.privacy)
        for number, item, able, safe in points:
            _point(axes, number, (able, safe), filled=item.name in front.conditions)
        on_front = sorted((able.value, safe.value) for _, item, able, safe in points if item.name in front.conditions)
        axes.plot(*zip(*on_front, strict=True), color=QUIET, linestyle=DASHED, linewidth=1, zorder=1)
        axes.margins(x=0.14, y=0.16)
        axes.invert_xaxis()
        if CATALOGUE[front.privacy].better == "low":
            axes.invert_yaxis()
        axes.set_xlabel(f"{CATALOGUE[front.capability].title} (log scale) · more capable →")
        axes.set_ylabel(f"{_titled(front.privacy)} · more private →")
        label(axes, [(able.value, safe.value, item.name) for _, item, able, safe in points])
        return render(
            figure,
            name=name,
            title=f"Capability against privacy, {target.name}",
            description="Up is more private, right is more capable. "
            f"Not beaten in both: {', '.join(front.conditions)}. The figures stand in the tables of all metrics.",
        )


def _scales(axes: "Axes", privacy: str) -> None:
    axes.set_xscale("log")
    if CATALOGUE[privacy].unit != "bits":
        axes.set_yscale("log")
    plain_ticks(axes)


def _titled(metric: str) -> str:
    found = CATALOGUE[metric]
    return f"{found.title}, {found.unit}" if found.unit else f"{found.title} (log scale)"


def _point(axes: "Axes", number: int, at: tuple[Estimate, Estimate], *, filled: bool) -> None:
    able, safe = at
    color = color_of(number)
    axes.errorbar(
        able.value,
        safe.value,
        xerr=arms(able),
        yerr=arms(safe),
        fmt=marker_of(number),
        color=color,
        markerfacecolor=color if filled else PAPER,
        markersize=9,
        markeredgewidth=1.8,
        elinewidth=1.2,
        zorder=3,
    )
