"""Each condition over the metrics of both sides: small radar pictures that compare by shape."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakscape.landscape.catalogue import HARNESS, Entry
from leakscape.landscape.charts.common import DOTTED, WIDTH, color_of, marker_of
from leakscape.landscape.schema import Target
from leakscape.landscape.svg import INK, LINE, QUIET, canvas, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPOKES = {
    "exposure_bits": "exposure",
    "verbatim_perplexity": "verbatim",
    "semantic_perplexity": "semantic",
    "extraction_rate": "extraction",
    "membership_auc": "membership",
    "held_out_perplexity": "held-out",
    "medication_perplexity": "medication",
}
"""One spoke a probe (a figure derived from the same rows would count it twice), privacy first."""

_FEWEST = 3  # spokes below which there is no shape
_LONGEST = 14  # letters of a spoke's name


@dataclass(frozen=True, slots=True)
class Spoke:
    """A metric that every condition has: its short name, its side, and each condition's place from 0 to 1, 1 good."""

    metric: str
    short: str
    side: str
    places: dict[str, float]


def spokes(target: Target, entries: Mapping[str, Entry]) -> list[Spoke]:
    """Scale each metric from its worst condition (0) to its best (1); perplexities by their logarithms.

    A metric that a condition lacks, or that is the same everywhere, has no spoke.
    """
    names = [*SPOKES, *sorted(name for name in entries if name.startswith(HARNESS))]
    found = []
    for name in names:
        figures = [item.metrics.get(name) for item in target.conditions]
        values = [figure.value for figure in figures if figure is not None]
        if name not in entries or len(values) < len(figures) or max(values) <= min(values):
            continue
        if name.endswith("_perplexity"):
            values = [math.log(value) for value in values]
        low, high = min(values), max(values)
        good = [(value - low) / (high - low) for value in values]
        if entries[name].better == "low":
            good = [1 - value for value in good]
        places = {item.name: value for item, value in zip(target.conditions, good, strict=True)}
        short = SPOKES.get(name, name.removeprefix(HARNESS))
        found.append(Spoke(name, short[:_LONGEST], entries[name].side, places))
    return sorted(found, key=lambda spoke: spoke.side == "capability") if len(found) >= _FEWEST else []


def radar(target: Target, entries: Mapping[str, Entry], name: str) -> str:
    """A shape for each condition; dotted in each the untouched model's. Empty for one condition or few metrics."""
    found = spokes(target, entries)
    if not found:
        return ""
    columns = min(4, len(target.conditions))
    height = -(-len(target.conditions) // columns)
    with canvas(WIDTH, 2.45 * height, columns=columns, rows=height) as (figure, all_axes):
        for axes in all_axes:
            axes.set_axis_off()
        for number, (axes, item) in enumerate(zip(all_axes, target.conditions, strict=False)):
            _web(axes, found)
            base = target.untouched
            if base is not None and base != item.name:
                axes.plot(*_ring([spoke.places[base] for spoke in found]), color=QUIET, linestyle=DOTTED, linewidth=1.3)
            around = _ring([spoke.places[item.name] for spoke in found])
            axes.fill(*around, color=color_of(number), alpha=0.2, linewidth=0)
            axes.plot(*around, color=color_of(number), marker=marker_of(number), markersize=4.5, linewidth=1.5)
            axes.set_title(item.name, fontsize=10.5, loc="left", parse_math=False)
        return render(
            figure,
            name=name,
            title=f"Each condition over {len(found)} metrics, {target.name}",
            description="Small radar pictures, one for each condition; far out is good. Spokes, clockwise from the "
            f"top: {', '.join(f'{spoke.short} ({spoke.side})' for spoke in found)}. The figures stand in the tables "
            "of all metrics.",
        )


def _ring(places: Sequence[float]) -> tuple[list[float], list[float]]:
    """A closed line through the places, the first one on top, clockwise; the centre stays a small ring."""
    turns = [2 * math.pi * place / len(places) for place in range(len(places))]
    out = [0.08 + 0.92 * value for value in places]
    across = [reach * math.sin(turn) for reach, turn in zip(out, turns, strict=True)]
    up = [reach * math.cos(turn) for reach, turn in zip(out, turns, strict=True)]
    return [*across, across[0]], [*up, up[0]]


def _web(axes: "Axes", found: Sequence[Spoke]) -> None:
    for level in (0.0, 0.5, 1.0):
        axes.plot(*_ring([level] * len(found)), color=LINE, linewidth=0.9, zorder=1)
    ends = list(zip(*_ring([1.0] * len(found)), strict=True))
    for spoke, (x, y) in zip(found, ends, strict=False):
        axes.plot([0, x], [0, y], color=LINE, linewidth=0.9, zorder=1)
        private = spoke.side == "privacy"
        axes.text(
            1.1 * x, 1.13 * y, spoke.short, fontsize=8.5, color=QUIET if private else INK,
            style="normal" if private else "italic", va="center", parse_math=False,
            ha="center" if abs(x) < 0.2 else "left" if x > 0 else "right",  # noqa: PLR2004 - near the vertical
        )  # fmt: skip
    axes.set_aspect("equal")
    axes.set_xlim(-1.7, 1.7)
    axes.set_ylim(-1.15, 1.3)
