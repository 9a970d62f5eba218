"""What the pictures share: a condition's mark, intervals, names, scales and the legend."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from leakscape.landscape.schema import Condition, Estimate, Target
from leakscape.landscape.svg import INK, MARKERS, PAPER, QUIET, SERIES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

TIMES = "\N{MULTIPLICATION SIGN}"
WIDTH = 11.0
"""Of every picture, in inches of 72 px."""

DOTTED, DASHED = (0, (1, 2)), (0, (4, 3))

_MARK = 7  # half of a mark, in the pixels in which matplotlib lays out
_WIDE = 20  # times the least value, beyond which the ticks of a narrow picture would touch
_LETTERS_ABREAST = 125  # of a legend's row, marks and gaps counted as letters

Arms = list[list[float]]


def color_of(number: int) -> str:
    """The colour of a target's condition by its place."""
    return SERIES[number % len(SERIES)]


def marker_of(number: int) -> str:
    """The marker of a target's condition by its place."""
    return MARKERS[number % len(MARKERS)]


def arms(estimate: Estimate) -> Arms | None:
    """The interval as matplotlib wants it, below and above the figure; None where there is none."""
    if estimate.low is None or estimate.high is None:
        return None
    return [[max(0.0, estimate.value - estimate.low)], [max(0.0, estimate.high - estimate.value)]]


def literal(name: str) -> str:
    """A label that matplotlib takes for text, not for mathematics or for a hidden one."""
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def plain_ticks(axes: "Axes", which: str = "both", *, narrow: bool = False) -> None:
    """Ticks of log scales at 1, 2 and 5 as plain numbers; at 1 and 3 in a narrow picture of a wide range."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for side in (axes.xaxis, axes.yaxis) if which == "both" else (axes.yaxis,):
        if side.get_scale() != "log":
            continue
        low, high = sorted(side.get_view_interval())
        subs = (1, 3) if narrow and high > _WIDE * low else (1, 2, 5)
        side.set_major_locator(LogLocator(base=10, subs=subs, numticks=12))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        side.set_minor_formatter(NullFormatter())


def percent_ticks(axes: "Axes", which: str) -> None:
    """Shares from 0 to 1 as percentages, `which` being `x`, `y` or `both`."""
    from matplotlib.ticker import FuncFormatter

    for side, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        if which in (side, "both"):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))


def label(axes: "Axes", points: Sequence[tuple[float, float, str]]) -> None:
    """Names beside the points, moved so that they cover neither each other nor a point, with a line to theirs."""
    from adjustText import adjust_text
    from matplotlib.transforms import Bbox

    if (figure := axes.get_figure(root=True)) is not None:
        figure.draw_without_rendering()  # so that the axes stand where they will be drawn
    texts = [axes.text(x, y, name, fontsize=10.5, zorder=4, parse_math=False) for x, y, name in points]
    adjust_text(
        texts,
        x=[x for x, _, _ in points],
        y=[y for _, y, _ in points],
        ax=axes,
        expand=(1.3, 1.9),
        iter_lim=300,
    )
    to_data = axes.transData.inverted()
    marks = [axes.transData.transform((x, y)) for x, y, _ in points]
    taken = [Bbox.from_bounds(x - _MARK, y - _MARK, 2 * _MARK, 2 * _MARK) for x, y in marks]
    for text, (x, y) in zip(texts, marks, strict=True):
        box = _free(text.get_window_extent(), taken)
        taken.append(box)
        corner = to_data.transform((box.x0, box.y0))
        text.set(position=(corner[0], corner[1]), ha="left", va="bottom")
        near = min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1)
        line = to_data.transform([(x, y), near])
        axes.plot(line[:, 0], line[:, 1], color=QUIET, linewidth=0.6, zorder=2)


def _free(box: "Bbox", taken: "Sequence[Bbox]") -> "Bbox":
    """The box, moved up or down by half lines until it covers no other one."""
    steps = sorted(range(-2 * len(taken), 2 * len(taken) + 1), key=abs)
    moved = (box.translated(0, step * 0.55 * box.height) for step in steps)
    return next((each for each in moved if not any(each.overlaps(other) for other in taken)), box)


def legend(figure: "Figure", target: Target, shown: Iterable[str]) -> None:
    """Below the picture, each shown condition's line and marker once, in the target's order."""
    from matplotlib.lines import Line2D

    wanted = set(shown)
    handles = [
        Line2D([], [], color=color_of(number), marker=marker_of(number), markersize=6, label=literal(item.name))
        for number, item in enumerate(target.conditions)
        if item.name in wanted
    ]
    put_legend(figure, handles)


def put_legend(figure: "Figure", handles: Sequence["Artist"]) -> None:
    """Below the picture, in rows of equal length."""
    letters = sum(len(str(handle.get_label())) + 7 for handle in handles)
    lines = max(1, -(-letters // _LETTERS_ABREAST))
    figure.legend(handles=handles, loc="outside lower center", ncols=max(1, -(-len(handles) // lines)), frameon=False)


def by_multiplicity(axes: "Axes", target: Target, pick: Callable[[Condition], Mapping[str, Estimate]]) -> None:
    """A line for each condition over the copies of a canary, with intervals, side by side within one number of copies.

    Copies "0" are canaries that a coin left out: hollow marks apart from the line.
    """
    copies = sorted({int(key) for item in target.conditions for key in pick(item)})
    places = {key: place for place, key in enumerate(copies)}
    shift = 0.5 / max(1, len(target.conditions))
    for number, item in enumerate(target.conditions):
        found = {int(key): estimate for key, estimate in pick(item).items()}
        if not found:
            continue
        color, marker = color_of(number), marker_of(number)
        aside = (number - (len(target.conditions) - 1) / 2) * shift
        ends = [
            (places[key] + aside, each.low, each.high)
            for key, each in sorted(found.items())
            if each.low is not None and each.high is not None
        ]
        if ends:
            axes.vlines(*zip(*ends, strict=True), color=color, linewidth=1.1, alpha=0.45)
        planted = sorted(key for key in found if key)
        across, up = [places[key] + aside for key in planted], [found[key].value for key in planted]
        axes.plot(across, up, color=color, marker=marker, markersize=5.5)
        if 0 in found:
            axes.plot(places[0] + aside, found[0].value, color=color, marker=marker, markersize=5.5,
                      markerfacecolor=PAPER, linestyle="none")  # fmt: skip
    axes.set_xticks(range(len(copies)), [f"{TIMES}{key}" if key else "left out" for key in copies])
    axes.set_xlim(-0.5, max(0.5, len(copies) - 0.5))
    axes.grid(visible=False, axis="x")


def rows(axes: "Axes", names: Sequence[str]) -> None:
    """Rows with names, the first one on top."""
    axes.set_yticks(range(len(names)), [literal(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", labelcolor=INK)
    axes.grid(visible=False, axis="y")


def across(axes: "Axes", row: float, estimate: Estimate, number: int, *, hollow: bool = False) -> None:
    """A figure with its interval in a row."""
    color = color_of(number)
    axes.errorbar(
        estimate.value,
        row,
        xerr=arms(estimate),
        fmt=marker_of(number),
        color=color,
        markerfacecolor=PAPER if hollow else color,
        markersize=7,
        markeredgewidth=1.5,
        elinewidth=1.3,
        zorder=3,
    )
