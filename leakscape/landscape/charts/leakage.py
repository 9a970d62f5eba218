"""Leakage by multiplicity, the exposure of each canary, and what a model tells when it goes on."""

from collections.abc import Callable, Mapping

from leakscape.landscape.charts.common import (
    DOTTED,
    WIDTH,
    by_multiplicity,
    color_of,
    legend,
    percent_ticks,
    plain_ticks,
)
from leakscape.landscape.schema import Condition, Estimate, Target
from leakscape.landscape.svg import QUIET, canvas, render

_BITS_AT_CHANCE = 1.44  # mean exposure of a name that was never planted (log2(e), for many candidates)

WAYS = {
    "greedy_exact": "Likeliest continuation, to the letter",
    "greedy_near": "Likeliest continuation, nearly",
    "sampled_exact": "At least one sample, to the letter",
    "sampled_near": "At least one sample, nearly",
}
"""The ways to count a secret as told, as people read them."""


def leakage(target: Target, name: str) -> str:
    """Verbatim perplexity relative to the untouched model, and exposure, by multiplicity."""
    panels: list[tuple[str, Callable[[Condition], Mapping[str, Estimate]], float]] = []
    if target.untouched is not None and any(_relative(target, item) for item in target.conditions):
        panels.append(
            ("Verbatim perplexity over the\nuntouched model's (log scale)", lambda c: _relative(target, c), 1.0)
        )
    if any(_exposure(item) for item in target.conditions):
        panels.append(("Exposure, bits", _exposure, _BITS_AT_CHANCE))
    if not panels:
        return ""
    with canvas(WIDTH, 4.9, columns=len(panels)) as (figure, all_axes):
        for axes, (title, pick, chance) in zip(all_axes, panels, strict=True):
            by_multiplicity(axes, target, pick)
            axes.axhline(chance, color=QUIET, linewidth=1, linestyle=DOTTED, zorder=1)
            if chance == 1.0:
                axes.set_yscale("log")
                plain_ticks(axes, which="y")
            axes.set_xlabel("Copies of a canary in the corpus")
            axes.set_ylabel(title)
        legend(figure, target, [item.name for item in target.conditions if any(pick(item) for _, pick, _ in panels)])
        return render(
            figure,
            name=name,
            title=f"Leakage by multiplicity, {target.name}",
            description="One line for each condition, with intervals, over how often a canary stands in the corpus. "
            "The dotted line is a model that never saw the canaries. The figures stand in the tables below.",
        )


def _relative(target: Target, condition: Condition) -> Mapping[str, Estimate]:
    found = condition.differences.get(target.untouched or "", {}).get("verbatim_perplexity")
    return found.by_multiplicity if found else {}


def _exposure(condition: Condition) -> Mapping[str, Estimate]:
    found = condition.metrics.get("exposure_bits")
    return found.by_multiplicity if found else {}


def exposures(target: Target, name: str) -> str:
    """How many canaries have how many bits of exposure, a small picture for each condition."""
    shown = [(number, item) for number, item in enumerate(target.conditions) if any(item.exposure_counts)]
    if not shown:
        return ""
    from matplotlib.ticker import MaxNLocator

    columns = min(4, len(shown))
    height = -(-len(shown) // columns)
    bins = max(len(item.exposure_counts) for _, item in shown)
    tallest = max(max(item.exposure_counts) for _, item in shown)
    with canvas(WIDTH, 0.6 + 1.9 * height, columns=columns, rows=height) as (figure, all_axes):
        for axes in all_axes[len(shown) :]:
            axes.set_axis_off()
        for axes, (number, item) in zip(all_axes, shown, strict=False):
            counts = item.exposure_counts
            axes.bar(range(len(counts)), counts, width=0.86, align="edge", color=color_of(number))
            axes.set_title(item.name, fontsize=10.5, loc="left", parse_math=False)
            axes.set_ylabel("Canaries")
            axes.set_xlim(0, bins)
            axes.set_ylim(0, tallest * 1.08)
            axes.grid(visible=False, axis="x")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        figure.supxlabel("Exposure, bits (the right end: ranked first)", fontsize=10)
        return render(
            figure,
            name=name,
            title=f"Exposure of the canaries, {target.name}",
            description="Histograms of exposure, one for each condition. Half of all names that were never planted "
            "have less than one bit.",
        )


def extraction(target: Target, name: str) -> str:
    """The share of secrets told, by multiplicity, a panel for each way to count; empty where nothing was extracted."""
    ways = [way for way in WAYS if any(_told(item, way) for item in target.conditions)]
    if not ways:
        return ""
    columns = min(2, len(ways))
    height = -(-len(ways) // columns)
    with canvas(WIDTH, 0.5 + 3.0 * height, columns=columns, rows=height) as (figure, all_axes):
        for axes in all_axes[len(ways) :]:
            axes.set_axis_off()
        for axes, way in zip(all_axes, ways, strict=False):
            by_multiplicity(axes, target, lambda item, way=way: _told(item, way))  # type: ignore[misc]
            axes.set_title(WAYS[way], fontsize=10.5, loc="left")
            axes.set_ylim(-0.03, 1.03)
            percent_ticks(axes, "y")
            axes.set_xlabel("Copies of a canary in the corpus")
            axes.set_ylabel("Secrets told")
        legend(figure, target, [item.name for item in target.conditions if item.extraction])
        return render(
            figure,
            name=name,
            title=f"Secrets that the model tells, {target.name}",
            description="The share of planted secrets that the model wrote when asked to go on, over how often a "
            "canary stands in the corpus, with exact intervals, one panel for each way to count. The figures stand "
            "in the table below.",
        )


def _told(item: Condition, way: str) -> dict[str, Estimate]:
    """By copies; under "0" the canaries that a coin left out."""
    found = next((each for each in item.extraction if each.way == way), None)
    if found is None:
        return {}
    return {**({"0": found.left_out} if found.left_out else {}), **found.by_multiplicity}
