"""Pairs of metrics over the conditions, with Spearman's coefficient."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from leakscape.landscape.catalogue import Entry
from leakscape.landscape.charts.common import WIDTH, arms, color_of, legend, marker_of, plain_ticks
from leakscape.landscape.schema import Correlation, Target
from leakscape.landscape.svg import canvas, render
from leakscape.landscape.words import p_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def correlations(target: Target, entries: Mapping[str, Entry], name: str) -> str:
    """A scatter for each pair of metrics, a mark for each condition; empty where nothing was correlated."""
    shown = target.correlations
    if not shown:
        return ""
    columns = len(shown) if len(shown) <= 4 else 3  # noqa: PLR2004 - as many as stay readable
    height = -(-len(shown) // columns)
    with canvas(WIDTH, 0.6 + 3.2 * height, columns=columns, rows=height) as (figure, all_axes):
        for axes in all_axes[len(shown) :]:
            axes.set_axis_off()
        for axes, found in zip(all_axes, shown, strict=False):
            _scatter(axes, target, found, entries)
        legend(figure, target, [item.name for item in target.conditions if _has_any(item.metrics, shown)])
        return render(
            figure,
            name=name,
            title=f"What goes together over the conditions, {target.name}",
            description=" ".join(
                f"{_title(entries, each.x)} and {_title(entries, each.y)}: {coefficient(each)}." for each in shown
            ),
        )


def coefficient(found: Correlation) -> str:
    """The coefficient, its interval over other conditions, p and n, on one line."""
    ends = ""
    if found.low is not None and found.high is not None:
        ends = f" [{_two(found.low)}, {_two(found.high)}]"
    return f"Spearman {_two(found.value)}{ends}, {p_value(found.p)}, n = {found.n}"


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def _scatter(axes: "Axes", target: Target, found: Correlation, entries: Mapping[str, Entry]) -> None:
    for metric, scale in ((found.x, axes.set_xscale), (found.y, axes.set_yscale)):
        if metric.endswith("_perplexity"):
            scale("log")
    for place, item in enumerate(target.conditions):
        x, y = item.metrics.get(found.x), item.metrics.get(found.y)
        if x is None or y is None:
            continue
        axes.errorbar(
            x.value, y.value, xerr=arms(x), yerr=arms(y), fmt=marker_of(place), color=color_of(place), markersize=7,
            elinewidth=0.9,
        )  # fmt: skip
    axes.margins(0.12)
    plain_ticks(axes, narrow=True)
    axes.set_xlabel(_axis(entries, found.x))
    axes.set_ylabel(_axis(entries, found.y))
    first, _, rest = coefficient(found).partition(", p")
    axes.set_title(f"{first}\np{rest}", fontsize=9.5, loc="left")


def _axis(entries: Mapping[str, Entry], metric: str) -> str:
    scale = " (log scale)" if metric.endswith("_perplexity") else ""
    unit = f", {entries[metric].unit}" if metric in entries and entries[metric].unit else ""
    return f"{_title(entries, metric)}{unit}{scale}"


def _title(entries: Mapping[str, Entry], metric: str) -> str:
    return entries[metric].title if metric in entries else metric


def _has_any(metrics: Mapping[str, object], shown: list[Correlation]) -> bool:
    return any(each.x in metrics and each.y in metrics for each in shown)
