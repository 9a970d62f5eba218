"""The landscape as CSV tables, for people who compute further."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from leakscape.landscape.schema import Estimate, Landscape

METRICS_HEADER = ("target", "condition", "metric", "multiplicity", "value", "low", "high", "n")
DIFFERENCES_HEADER = (
    "target", "condition", "reference", "metric", "multiplicity", "scale", "value", "low", "high", "n", "p", "p_holm",
)  # fmt: skip

Row = Sequence[str | int | float | None]


def write(landscape: Landscape, folder: Path) -> None:
    """Write `metrics.csv` and `differences.csv`; `multiplicity` is empty for a figure over all."""
    _write(folder / "metrics.csv", METRICS_HEADER, _metrics(landscape))
    _write(folder / "differences.csv", DIFFERENCES_HEADER, _differences(landscape))


def _write(path: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([_safe(cell) for cell in row] for row in rows)


def _safe(cell: str | float | None) -> str | float | None:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _metrics(landscape: Landscape) -> Iterator[Row]:
    for target in landscape.targets:
        for item in target.conditions:
            for metric, figure in item.metrics.items():
                for copies, found in [("", figure), *figure.by_multiplicity.items()]:
                    yield target.name, item.name, metric, copies, *_cells(found)


def _differences(landscape: Landscape) -> Iterator[Row]:
    for target in landscape.targets:
        for item in target.conditions:
            for reference, found in item.differences.items():
                for metric, whole in found.items():
                    key = target.name, item.name, reference, metric
                    yield *key, "", whole.scale, *_cells(whole), whole.p, whole.p_holm
                    for copies, part in whole.by_multiplicity.items():
                        yield *key, copies, whole.scale, *_cells(part), None, None


def _cells(estimate: Estimate) -> Row:
    return estimate.value, estimate.low, estimate.high, estimate.n
