"""Leakage and capability of each condition from audit to audit."""

from typing import TYPE_CHECKING

from leakscape.landscape.charts.common import (
    DASHED,
    WIDTH,
    color_of,
    legend,
    marker_of,
    plain_ticks,
)
from leakscape.landscape.figures import Estimate
from leakscape.landscape.schema import Target
from leakscape.landscape.svg import QUIET, canvas, render
from leakscape.landscape.verdict import Past
from leakscape.scoring.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_SIDES = ("exposure_bits", "held_out_perplexity")
_TICKS = 6  # dates under one panel


def trend(target: Target, past: "Sequence[Past]", name: str) -> str:
    """Exposure and held-out perplexity over the audits, this one the last; empty without an earlier one."""
    shown = [metric for metric in _SIDES if _lines(target, past, metric)]
    if not past or not shown:
        return ""
    with canvas(WIDTH, 3.8, columns=len(shown)) as (figure, all_axes):
        for axes, metric in zip(all_axes, shown, strict=True):
            _panel(axes, target, past, metric)
        legend(figure, target, [item.name for item in target.conditions])
        return render(
            figure,
            name=name,
            title=f"From audit to audit, {target.name}",
            description=f"{len(past) + 1} audits from {_day(past[0])} on, the last one is this page's. "
            "The changes since the audit before stand in the table below.",
        )


def _lines(target: Target, past: "Sequence[Past]", metric: str) -> dict[int, list[tuple[int, Estimate]]]:
    """By condition's place: audit and figure, this audit's last."""
    lines: dict[int, list[tuple[int, Estimate]]] = {}
    for number, item in enumerate(target.conditions):
        found = [audit.figures.get(item.name, {}).get(metric) for audit in past] + [item.metrics.get(metric)]
        points = [(place, figure) for place, figure in enumerate(found) if figure is not None]
        if points:
            lines[number] = points
    return lines


def _panel(axes: "Axes", target: Target, past: "Sequence[Past]", metric: str) -> None:
    shift = 0.4 / max(1, len(target.conditions))
    for number, points in _lines(target, past, metric).items():
        aside = (number - (len(target.conditions) - 1) / 2) * shift
        color = color_of(number)
        ends = [
            (place + aside, each.low, each.high)
            for place, each in points
            if each.low is not None and each.high is not None
        ]
        if ends:
            axes.vlines(*zip(*ends, strict=True), color=color, linewidth=1.1, alpha=0.45)
        across, up = [place + aside for place, _ in points], [each.value for _, each in points]
        axes.plot(across, up, color=color, marker=marker_of(number), markersize=5.5)
    for place, audit in enumerate(past):
        if not audit.passed:
            axes.axvline(place, color=QUIET, linewidth=0.8, linestyle=DASHED, zorder=0)
    if METRICS[metric].unit != "bits":
        axes.set_yscale("log")
        plain_ticks(axes, which="y")
    days = [*(_day(audit) for audit in past), "this audit"]
    step = -(-len(days) // _TICKS)
    places = list(range(len(days) - 1, -1, -step))[::-1]
    axes.set_xticks(places, [days[place] for place in places])
    axes.set_xlim(-0.5, len(days) - 0.5)
    axes.set_ylabel(f"{METRICS[metric].title}{', bits' if METRICS[metric].unit == 'bits' else ' (log scale)'}")
    axes.grid(visible=False, axis="x")


def _day(audit: Past) -> str:
    return audit.date[:10]
