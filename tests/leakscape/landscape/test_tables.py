import csv
from pathlib import Path

import landscape_fakes as fakes

from leakscape.landscape import tables
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.source import read_measurements


def test_tables_hold_every_figure_and_no_formula(tmp_path: Path):
    rows = [fakes.row("verbatim", f"c{n}", 4, multiplicity=n) for n in (1, 4)]
    given = [fakes.measurements(rows), fakes.measurements(rows, condition="=1+1", adapters=("a",))]
    paths = [fakes.store(tmp_path / str(place), data) for place, data in enumerate(given)]
    tables.write(aggregate(read_measurements(paths), [], {}, Settings(resamples=100)), tmp_path)
    with (tmp_path / "metrics.csv").open(encoding="utf-8", newline="") as stream:
        found = [row for row in csv.DictReader(stream) if row["metric"] == "verbatim_perplexity"]
    assert [(row["condition"], row["multiplicity"], row["n"]) for row in found] == [
        (name, copies, n) for name in ("'=1+1", "none") for copies, n in (("", "2"), ("1", "1"), ("4", "1"))
    ]
    assert {round(float(row["value"]), 9) for row in found} == {4.0}
    with (tmp_path / "differences.csv").open(encoding="utf-8", newline="") as stream:
        differences = list(csv.DictReader(stream))
    assert {(row["reference"], row["condition"]) for row in differences} == {("none", "'=1+1")}
    assert {row["p"] for row in differences if not row["multiplicity"]} == {"1.0"}
