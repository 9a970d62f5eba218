"""Sections that are mostly a picture: the landscape itself, leakage, shapes, correlations and training."""

from collections.abc import Mapping

from leakscape.landscape import charts
from leakscape.landscape.catalogue import Entry
from leakscape.landscape.charts.radar import spokes
from leakscape.landscape.report import findings
from leakscape.landscape.report.figures import multiplicities
from leakscape.landscape.report.parts import Section, pictures
from leakscape.landscape.schema import Target


def tradeoff(target: Target, name: str, level: str) -> Section:
    """Capability against privacy."""
    caption = (
        f"The upper right is where one wants to be. Bars are {level} intervals; where they overlap, the order of two "
        "conditions may be chance. Filled points lie on the Pareto front (dashed): no other condition is better in "
        "both."
    )
    if target.front is not None and target.front.privacy == "verbatim_perplexity":
        caption += (
            " Fine-tuning alone raises the perplexity of names that were never planted, so a point above the "
            "untouched model is no gain in privacy by itself."
        )
    shown = pictures(charts.tradeoff(target, f"tradeoff-{name}"), caption=caption)
    return Section("landscape", "Capability against privacy", findings.tradeoff(target), shown)


def leakage(target: Target, entries: Mapping[str, Entry], name: str, level: str) -> Section:
    """Leakage by multiplicity."""
    caption = (
        "Each canary is held against itself under the untouched model, so that hard and easy secrets compare. Dotted: "
        "what a model that never saw the canaries would show. Below it in perplexity, or above it in exposure, is "
        "leakage."
    )
    shown = pictures(charts.leakage(target, f"leakage-{name}"), caption=caption)
    finding = findings.leakage(target) if shown else ""
    return Section("leakage", "Leakage by multiplicity", finding, shown, tables=multiplicities(target, entries, level))


def exposures(target: Target, name: str) -> Section:
    """Exposure of each canary."""
    caption = (
        "Exposure says how far up a secret ranks among names that were never planted. Each bit halves the ranks above "
        "it; a model that never saw the canaries shows the falling staircase of chance."
    )
    shown = pictures(charts.exposures(target, f"exposures-{name}"), caption=caption)
    return Section("exposure", "Exposure of each canary", findings.exposures(target) if shown else "", shown)


def radar(target: Target, entries: Mapping[str, Entry], name: str) -> Section:
    """Each condition's shape over the metrics of both sides."""
    order = ", ".join(spoke.short for spoke in spokes(target, entries))
    caption = (
        f"Clockwise from the top: {order}; capability in italics. Far out is good. Each spoke runs from the worst "
        "condition of this audit (centre) to the best (rim), perplexities by their logarithms (min-max), however near "
        "to each other these are: read shapes, not areas. Dotted: the untouched model."
    )
    shown = pictures(charts.radar(target, entries, f"radar-{name}"), caption=caption)
    return Section("conditions", "Each condition", findings.radar(target, entries), shown)


def correlations(target: Target, entries: Mapping[str, Entry], name: str, level: str) -> Section:
    """What goes together over the conditions."""
    caption = (
        f"A mark for each condition. Spearman's coefficient with its {level} interval over conditions, and p by "
        "permutation, uncorrected. These conditions are few and were chosen: chance alone orders seven of them by 0.78 "
        "in one of twenty cases, so a coefficient tells little beyond them."
    )
    shown = pictures(charts.correlations(target, entries, f"correlations-{name}"), caption=caption)
    return Section("correlations", "What goes together", findings.correlations(target, entries), shown)


def training(target: Target, name: str) -> Section:
    """The losses."""
    caption = (
        "Loss of each training over its steps. Conditions that train on another corpus or by another objective have "
        "losses of their own kind."
    )
    return Section("training", "Training", "", pictures(charts.losses(target, f"losses-{name}"), caption=caption))
