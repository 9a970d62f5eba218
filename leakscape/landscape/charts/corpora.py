"""What a judge and the corpus audit say of the corpora that conditions were trained on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leakscape.landscape.charts.common import WIDTH, across, arms, literal, percent_ticks, put_legend, rows
from leakscape.landscape.schema import Disclosed, Target
from leakscape.landscape.svg import INK, PAPER, QUIET, SERIES, canvas, render
from leakscape.landscape.words import SURE, p_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def judged(target: Target, name: str) -> str:
    """Judged privacy and quality of each corpus, a row for each condition and judge."""
    shown = [(number, item, each) for number, item in enumerate(target.conditions) for each in item.judged]
    if not shown:
        return ""
    several = len({each.judge for _, _, each in shown}) > 1
    names = [f"{item.name}, by {each.judge}" if several else item.name for _, item, each in shown]
    with canvas(WIDTH, 1.2 + 0.36 * len(shown), columns=2) as (figure, all_axes):
        for axes, aspect in zip(all_axes, ("privacy", "quality"), strict=True):
            rows(axes, names)
            for row, (number, _, each) in enumerate(shown):
                figures = {"privacy": each.privacy, "quality": each.quality}[aspect]
                if figures is not None:
                    across(axes, row, figures, number)
                else:
                    axes.text(1, row, "not judged", fontsize=9, color=QUIET, va="center")
            axes.set_xlim(0.9, 5.1)
            axes.set_xticks([1, 2, 3, 4, 5])
            axes.set_title(f"Judged {aspect}, from 1 to 5", fontsize=10.5, loc="left")
        return render(
            figure,
            name=name,
            title=f"What the judge says of the corpora, {target.name}",
            description="A row for each condition, with intervals; right is better. The figures stand in the table "
            "below.",
        )


def audited(target: Target) -> list[tuple[str, list[Disclosed]]]:
    """Each audited corpus once: the conditions behind which it stands, and what it discloses by feature."""
    corpora: dict[str, tuple[list[str], list[Disclosed]]] = {}
    for item in target.conditions:
        for corpus in dict.fromkeys(each.corpus for each in item.disclosed):
            found = [each for each in item.disclosed if each.corpus == corpus]
            corpora.setdefault(corpus, ([], found))[0].append(item.name)
    return [(", ".join(names), found) for names, found in corpora.values()]


def disclosures(target: Target, name: str) -> str:
    """The share of people disclosed beside the share of phantoms, by feature, a panel for each corpus."""
    shown = audited(target)
    if not shown:
        return ""
    columns = min(2, len(shown))
    height = -(-len(shown) // columns)
    most = max(len(found) for _, found in shown)
    with canvas(WIDTH, 0.6 + (0.85 + 0.3 * most) * height, columns=columns, rows=height) as (figure, all_axes):
        for axes in all_axes[len(shown) :]:
            axes.set_axis_off()
        for axes, (names, found) in zip(all_axes, shown, strict=False):
            _pairs(axes, names, found)
        _two_sorts(figure)
        return render(
            figure,
            name=name,
            title=f"Disclosures and phantoms, {target.name}",
            description="For each corpus and type of feature two marks: the share of the people that it was made "
            "from, and of people that it never saw. The figures stand in the table below.",
        )


def _pairs(axes: "Axes", names: str, found: Sequence[Disclosed]) -> None:
    rows(axes, [each.feature.replace("_", " ") for each in found])
    for row, each in enumerate(found):
        axes.plot([each.held_out.value, each.train.value], [row, row], color=QUIET, linewidth=1, zorder=1)
        for share, color, marker, fill in (
            (each.held_out, QUIET, "o", PAPER), (each.train, SERIES[1], "D", SERIES[1]),
        ):  # fmt: skip
            axes.errorbar(
                share.value, row, xerr=arms(share), fmt=marker, color=color, markerfacecolor=fill, markersize=6,
                markeredgewidth=1.4, elinewidth=1, zorder=3,
            )  # fmt: skip
        axes.annotate(
            p_value(each.p_holm), (1.0, row), xytext=(4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", fontsize=9, va="center", color=INK if each.p_holm < SURE else QUIET,
            weight="bold" if each.p_holm < SURE else "normal", annotation_clip=False,
        )  # fmt: skip
    axes.set_xlim(-0.03, 1.03)
    percent_ticks(axes, "x")
    axes.set_title(literal(names), fontsize=10.5, loc="left")
    axes.set_xlabel("People of whom it shows a rare feature")


def _two_sorts(figure: "Figure") -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=SERIES[1], marker="D", linestyle="none", markersize=6, label="people it was made from"),
        Line2D([], [], color=QUIET, marker="o", linestyle="none", markerfacecolor=PAPER, markersize=6,
               label="people it never saw (phantoms)"),
    ]  # fmt: skip
    put_legend(figure, handles)
