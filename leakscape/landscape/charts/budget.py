"""The privacy budget: what accounting allows, beside what the canaries' coins show."""

import math
from typing import TYPE_CHECKING, Any

from leakscape.landscape.charts.common import WIDTH, color_of, marker_of, rows
from leakscape.landscape.schema import Condition, Target
from leakscape.landscape.svg import INK, PAPER, canvas, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def upper(item: Condition) -> float | None:
    """The epsilon that training's accountant states; None where it states none."""
    stated: Any = item.privacy.get("epsilon")
    if isinstance(stated, bool) or not isinstance(stated, int | float) or not math.isfinite(stated):
        return None
    return float(stated)


def budget(target: Target, name: str) -> str:
    """A bar from the lower bound to the upper one, a row for each condition that has either."""
    shown = [
        (number, item)
        for number, item in enumerate(target.conditions)
        if upper(item) is not None or item.epsilon_bound is not None
    ]
    if all(upper(item) is None for _, item in shown):
        return ""
    with canvas(WIDTH, 1.1 + 0.6 * len(shown)) as (figure, (axes,)):
        rows(axes, [item.name for _, item in shown])
        ends = [end for _, item in shown for end in (upper(item), _lower(item)) if end is not None]
        most = max(*ends, 0.1) * 1.25
        for row, (number, item) in enumerate(shown):
            _bar(axes, row, item, number, most)
        axes.set_xlim(-0.02 * most, most)
        axes.set_xlabel("Epsilon (0 tells nothing of anyone)")
        return render(
            figure,
            name=name,
            title=f"Privacy budget, {target.name}",
            description="A bar for each condition from the epsilon that the canaries' coins show to the one that "
            "accounting allows. The figures stand in the table below.",
        )


def _lower(item: Condition) -> float | None:
    return None if item.epsilon_bound is None else item.epsilon_bound.epsilon


def _bar(axes: "Axes", row: int, item: Condition, number: int, most: float) -> None:
    low, high = _lower(item), upper(item)
    color = color_of(number)
    end = most if high is None else high
    axes.plot(
        [low or 0.0, end], [row, row], color=color, linewidth=7, alpha=0.35 if low is not None else 0.15,
        solid_capstyle="butt", zorder=2,
    )  # fmt: skip
    if low is not None:
        axes.plot(low, row, marker=">", color=color, markersize=9, linestyle="none", zorder=3)
        shown = f"shown: at least {low:.2g}" if low else "nothing shown"
        axes.annotate(shown, (low, row), **_beside(below=True))
    if high is not None:
        axes.plot(
            high, row, marker=marker_of(number), color=color, markerfacecolor=PAPER, markersize=8, markeredgewidth=1.8,
            linestyle="none", zorder=3,
        )  # fmt: skip
        axes.annotate(f"allowed: at most {high:.3g}", (high, row), **_beside(below=False))
    else:
        axes.annotate("no upper bound →", (most, row), **_beside(below=False, left=True))


def _beside(*, below: bool, left: bool = False) -> dict[str, Any]:
    """Where a bound's words stand: the upper one's above the bar, the lower one's below, so that they never touch."""
    return {
        "xytext": (-2 if left else 0, -7 if below else 7), "textcoords": "offset points", "fontsize": 9, "color": INK,
        "ha": "right" if left else "left", "va": "top" if below else "bottom",
    }  # fmt: skip
