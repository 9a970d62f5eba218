"""The report's pictures."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from leakscape.landscape.schema import Condition, Estimate, Target
from leakscape.landscape.svg import MARKERS, PAPER, QUIET, SERIES, canvas, render
from leakscape.scoring.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIMES = "\N{MULTIPLICATION SIGN}"
_BITS_AT_CHANCE = 1.44  # mean exposure of a name that was never planted (log2(e), for many candidates)


def tradeoff(target: Target, name: str) -> str:
    """Capability against privacy, a labelled point for each condition; empty where a side was not measured."""
    front = target.front
    if front is None:
        return ""
    points = [
        (number, item, item.metrics[front.capability], item.metrics[front.privacy])
        for number, item in enumerate(target.conditions)
    ]
    with canvas(9.2, 5.4) as (figure, (axes,)):
        _scales(axes, front.privacy)
        for number, item, able, safe in points:
            best = item.name in front.conditions
            _point(axes, number, (able, safe), filled=best)
        on_front = sorted((able.value, safe.value) for _, item, able, safe in points if item.name in front.conditions)
        axes.plot(*zip(*on_front, strict=True), color=QUIET, linestyle=(0, (4, 3)), linewidth=1, zorder=1)
        _frame(axes)
        axes.invert_xaxis()
        if METRICS[front.privacy].better == "low":
            axes.invert_yaxis()
        axes.set_xlabel(f"{METRICS[front.capability].title} (log scale) · more capable →")
        axes.set_ylabel(f"{_titled(front.privacy)} · more private →")
        _label(axes, [(able.value, safe.value, item.name) for _, item, able, safe in points])
        return render(
            figure,
            name=name,
            title=f"Capability against privacy, {target.name}",
            description="Up is more private, right is more capable. "
            f"Not beaten in both: {', '.join(front.conditions)}. The figures stand in the table of all metrics.",
        )


def _scales(axes: "Axes", privacy: str) -> None:
    axes.set_xscale("log")
    if METRICS[privacy].unit != "bits":
        axes.set_yscale("log")
    _plain_ticks(axes)


def _titled(metric: str) -> str:
    found = METRICS[metric]
    return f"{found.title}, {found.unit}" if found.unit else f"{found.title} (log scale)"


def _point(axes: "Axes", number: int, at: tuple[Estimate, Estimate], *, filled: bool) -> None:
    able, safe = at
    color = SERIES[number % len(SERIES)]
    axes.errorbar(
        able.value,
        safe.value,
        xerr=_arms(able),
        yerr=_arms(safe),
        fmt=MARKERS[number % len(MARKERS)],
        color=color,
        markerfacecolor=color if filled else PAPER,
        markersize=9,
        markeredgewidth=1.8,
        elinewidth=1.2,
        zorder=3,
    )


def _arms(estimate: Estimate) -> list[list[float]] | None:
    if estimate.low is None or estimate.high is None:
        return None
    return [[max(0.0, estimate.value - estimate.low)], [max(0.0, estimate.high - estimate.value)]]


def _frame(axes: "Axes") -> None:
    axes.margins(x=0.14, y=0.16)


def _label(axes: "Axes", points: Sequence[tuple[float, float, str]]) -> None:
    """Names beside the points, moved so that they cover neither each other nor a point."""
    from adjustText import adjust_text

    texts = [axes.text(x, y, name, fontsize=11, zorder=4, parse_math=False) for x, y, name in points]
    adjust_text(
        texts,
        x=[x for x, _, _ in points],
        y=[y for _, y, _ in points],
        ax=axes,
        expand=(1.3, 1.9),
        arrowprops={"arrowstyle": "-", "color": QUIET, "lw": 0.6},
        iter_lim=300,
    )


def leakage(target: Target, name: str) -> str:
    """Verbatim perplexity relative to the untouched model, and exposure, by multiplicity."""
    panels: list[tuple[str, Callable[[Condition], dict[str, Estimate]], float]] = []
    if target.untouched is not None and any(_relative(target, item) for item in target.conditions):
        panels.append(
            ("Verbatim perplexity over the\nuntouched model's (log scale)", lambda c: _relative(target, c), 1.0)
        )
    if any("exposure_bits" in item.metrics for item in target.conditions):
        panels.append(("Exposure, bits", _exposure, _BITS_AT_CHANCE))
    if not panels:
        return ""
    with canvas(9.2, 4.2, columns=len(panels)) as (figure, all_axes):
        for axes, (title, pick, chance) in zip(all_axes, panels, strict=True):
            _by_multiplicity(axes, target, pick)
            axes.axhline(chance, color=QUIET, linewidth=1, linestyle=(0, (1, 2)), zorder=1)
            if chance == 1.0:
                axes.set_yscale("log")
                _plain_ticks(axes, which="y")
            axes.set_ylabel(title)
        known = {
            label: handle for axes in all_axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        order = [label for item in target.conditions if (label := _literal(item.name)) in known]
        figure.legend(
            [known[label] for label in order],
            order,
            loc="outside lower center",
            ncols=min(5, len(order)),
            frameon=False,
        )
        return render(
            figure,
            name=name,
            title=f"Leakage by multiplicity, {target.name}",
            description="One line for each condition, with intervals, over how often a canary stands in the corpus. "
            "The dotted line is a model that never saw the canaries. The figures stand in the table below.",
        )


def _relative(target: Target, condition: Condition) -> dict[str, Estimate]:
    found = condition.differences.get(target.untouched or "", {}).get("verbatim_perplexity")
    return dict(found.by_multiplicity) if found else {}


def _exposure(condition: Condition) -> dict[str, Estimate]:
    found = condition.metrics.get("exposure_bits")
    return found.by_multiplicity if found else {}


def _by_multiplicity(axes: "Axes", target: Target, pick: Callable[[Condition], dict[str, Estimate]]) -> None:
    copies = sorted({int(key) for item in target.conditions for key in pick(item)})
    places = {str(key): place for place, key in enumerate(copies)}
    shift = 0.36 / max(1, len(target.conditions))
    for number, item in enumerate(target.conditions):
        found = pick(item)
        if not found:
            continue
        color = SERIES[number % len(SERIES)]
        keys = sorted(found, key=int)
        across = [places[key] + (number - (len(target.conditions) - 1) / 2) * shift for key in keys]
        for at, key in zip(across, keys, strict=True):
            axes.errorbar(
                at, found[key].value, yerr=_arms(found[key]), fmt="none", color=color, elinewidth=1.1, alpha=0.5
            )
        marker = MARKERS[number % len(MARKERS)]
        label = _literal(item.name)
        axes.plot(across, [found[key].value for key in keys], color=color, marker=marker, markersize=5.5, label=label)
    axes.set_xticks(range(len(copies)), [f"{TIMES}{key}" for key in copies])
    axes.set_xlabel("Copies of a canary in the corpus")
    axes.grid(visible=False, axis="x")


def exposures(target: Target, name: str) -> str:
    """How many canaries have how many bits of exposure, a small picture for each condition."""
    shown = [(number, item) for number, item in enumerate(target.conditions) if item.exposure_counts]
    if not shown:
        return ""
    from matplotlib.ticker import MaxNLocator

    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    bins = max(len(item.exposure_counts) for _, item in shown)
    tallest = max(max(item.exposure_counts) for _, item in shown)
    with canvas(9.2, 0.6 + 1.9 * rows, columns=columns, rows=rows) as (figure, all_axes):
        for axes in all_axes[len(shown) :]:
            axes.set_axis_off()
        for axes, (number, item) in zip(all_axes, shown, strict=False):
            counts = item.exposure_counts
            axes.bar(range(len(counts)), counts, width=0.86, align="edge", color=SERIES[number % len(SERIES)])
            axes.set_title(item.name, fontsize=11, loc="left", parse_math=False)
            axes.set_xlim(0, bins)
            axes.set_ylim(0, tallest * 1.08)
            axes.grid(visible=False, axis="x")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        figure.supxlabel("Exposure, bits (the right end: ranked first)", fontsize=11)
        figure.supylabel("Canaries", fontsize=11)
        return render(
            figure,
            name=name,
            title=f"Exposure of the canaries, {target.name}",
            description="Histograms of exposure, one for each condition. Half of all names that were never planted "
            "have less than one bit.",
        )


def losses(target: Target, name: str) -> str:
    """The training loss of each condition over its steps."""
    shown = [(number, item) for number, item in enumerate(target.conditions) if item.losses]
    if not shown:
        return ""
    with canvas(9.2, 3.4) as (figure, (axes,)):
        for number, item in shown:
            steps, values = zip(*item.losses, strict=True)
            label = _literal(item.name)
            axes.plot(steps, values, color=SERIES[number % len(SERIES)], linewidth=1.3, label=label)
        axes.set_xlabel("Step of the optimizer")
        axes.set_ylabel("Training loss, nats a token")
        axes.set_ylim(bottom=0)
        axes.margins(x=0.01)
        figure.legend(loc="outside lower center", ncols=min(5, len(shown)), frameon=False)
        ends = ", ".join(f"{item.name} {item.losses[-1][1]:.2f}" for _, item in shown)
        return render(
            figure,
            name=name,
            title=f"Training loss, {target.name}",
            description=f"Loss over the steps of each training. Last values: {ends}.",
        )


def _literal(name: str) -> str:
    """A label that matplotlib takes for text, not for mathematics or for a hidden one."""
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _plain_ticks(axes: "Axes", which: str = "both") -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for side in (axes.xaxis, axes.yaxis) if which == "both" else (axes.yaxis,):
        if side.get_scale() != "log":
            continue
        side.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        side.set_minor_formatter(NullFormatter())
