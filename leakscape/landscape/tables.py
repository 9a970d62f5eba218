"""The landscape as CSV tables, for people who compute further.

Each begins with target and condition (correlations are of a target); `multiplicity` is empty for a figure over all.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from leakscape.landscape.figures import Estimate
from leakscape.landscape.schema import Condition, Landscape, Target

Row = Sequence[str | int | float | bool | None]

_ESTIMATE = ("value", "low", "high", "n")


def write(landscape: Landscape, folder: Path) -> list[str]:
    """Write all tables and return their file names."""
    names = []
    for name, (header, rows) in _TABLES.items():
        keyed = ((target.name, item.name, *row) for target, item in _conditions(landscape) for row in rows(item))
        _write(folder / f"{name}.csv", ("target", "condition", *header), keyed)
        names.append(f"{name}.csv")
    pairs = ((target.name, *row) for target in landscape.targets for row in _correlations(target))
    _write(folder / "correlations.csv", ("target", *_CORRELATIONS), pairs)
    return [*names, "correlations.csv"]


def _conditions(landscape: Landscape) -> Iterator[tuple[Target, Condition]]:
    for target in landscape.targets:
        for item in target.conditions:
            yield target, item


def _write(path: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([_safe(cell) for cell in row] for row in rows)


def _safe(cell: str | float | bool | None) -> str | float | None:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front; truth is written as in JSON."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _cells(estimate: Estimate | None) -> Row:
    if estimate is None:
        return (None, None, None, None)
    return estimate.value, estimate.low, estimate.high, estimate.n


def _metrics(item: Condition) -> Iterator[Row]:
    for metric, figure in item.metrics.items():
        for copies, found in [("", figure), *figure.by_multiplicity.items()]:
            yield metric, copies, *_cells(found)


def _differences(item: Condition) -> Iterator[Row]:
    for reference, by_metric in item.differences.items():
        for metric, whole in by_metric.items():
            key = reference, metric
            yield *key, "", whole.scale, *_cells(whole), whole.p, whole.p_holm
            for copies, part in whole.by_multiplicity.items():
                yield *key, copies, whole.scale, *_cells(part), part.p, part.p_holm


def _unmeasured(item: Condition) -> Iterator[Row]:
    for gap in item.unmeasured:
        yield gap.metric, gap.reason


def _attacks(item: Condition) -> Iterator[Row]:
    """The area over all and by multiplicity, then the rates at few false alarms."""
    for found in item.attacks:
        key = found.attack, found.primary, found.members, found.others
        for copies, area in [("", found.auc), *found.by_multiplicity.items()]:
            yield *key, "auc", copies, *_cells(area), found.others_count, True
        for rate in found.detected:
            yield *key, f"tpr_at_{rate.allowed:g}", "", *_cells(rate), found.others_count, rate.resolved


def _roc(item: Condition) -> Iterator[Row]:
    for found in item.attacks:
        for false, true in found.curve:
            yield found.attack, found.members, found.others, false, true


def _extraction(item: Condition) -> Iterator[Row]:
    for found in item.extraction:
        for group, share in [("planted", found.planted), ("left_out", found.left_out)]:
            if share is not None:
                yield found.way, group, "", *_cells(share)
        for copies, share in found.by_multiplicity.items():
            yield found.way, "planted", copies, *_cells(share)


def _epsilon(item: Condition) -> Iterator[Row]:
    if bound := item.epsilon_bound:
        copies = " ".join(map(str, bound.copies))
        claimed = item.privacy.get("epsilon")
        yield (
            bound.attack, bound.epsilon, bound.canaries, bound.guesses, bound.right, bound.delta, bound.confidence,
            copies, claimed,
        )  # fmt: skip


def _judged(item: Condition) -> Iterator[Row]:
    for found in item.judged:
        yield found.judge, found.corpus, found.records, *_cells(found.privacy), *_cells(found.quality)


def _disclosures(item: Condition) -> Iterator[Row]:
    for found in item.disclosed:
        sides = *_cells(found.train), *_cells(found.held_out)
        yield found.corpus, found.feature, *sides, found.beyond_chance, found.p, found.p_holm


def _costs(item: Condition) -> Iterator[Row]:
    for found in item.costs:
        answers = " ".join(f"{outcome}:{count}" for outcome, count in sorted(found.answers.items()))
        spent = found.tokens_in, found.tokens_out, found.cost, found.seconds
        yield found.component, answers, found.quarantined, *spent


_CORRELATIONS = ("x", "y", *_ESTIMATE, "p", "drawn_low", "drawn_high")


def _correlations(target: Target) -> Iterator[Row]:
    for found in target.correlations:
        yield found.x, found.y, *_cells(found), found.p, found.drawn_low, found.drawn_high


def _side(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{part}" for part in _ESTIMATE)


_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Condition], Iterator[Row]]]] = {
    "metrics": (("metric", "multiplicity", *_ESTIMATE), _metrics),
    "differences": (("reference", "metric", "multiplicity", "scale", *_ESTIMATE, "p", "p_holm"), _differences),
    "unmeasured": (("metric", "reason"), _unmeasured),
    "attacks": (
        ("attack", "primary", "members", "others", "figure", "multiplicity", *_ESTIMATE, "others_count", "resolved"),
        _attacks,
    ),
    "roc": (("attack", "members", "others", "false_positive_rate", "true_positive_rate"), _roc),
    "extraction": (("way", "canaries", "multiplicity", *_ESTIMATE), _extraction),
    "epsilon": (
        ("attack", "epsilon", "canaries", "guesses", "right", "delta", "confidence", "copies", "claimed_epsilon"),
        _epsilon,
    ),
    "judged": (("judge", "corpus", "records", *_side("privacy"), *_side("quality")), _judged),
    "disclosures": (
        ("corpus", "feature", *_side("train"), *_side("held_out"), "beyond_chance", "p", "p_holm"),
        _disclosures,
    ),
    "costs": (("component", "answers", "quarantined", "tokens_in", "tokens_out", "cost", "seconds"), _costs),
}
"""By file name: the header after target and condition, and the rows of a condition."""
