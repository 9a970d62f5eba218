import csv
from pathlib import Path

import audit_fakes
import landscape_fakes as fakes
import pytest

from leakscape.landscape import tables
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import Landscape
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


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Landscape, dict[str, list[dict[str, str]]]]:
    folder = tmp_path_factory.mktemp("tables")
    made = audit_fakes.full(folder / "made", Settings(resamples=100))
    (folder / "out").mkdir()
    read = {}
    for name in tables.write(made, folder / "out"):
        with (folder / "out" / name).open(encoding="utf-8", newline="") as stream:
            read[name.removesuffix(".csv")] = list(csv.DictReader(stream))
    return made, read


def test_every_table_has_a_row_for_each_figure(full: tuple[Landscape, dict[str, list[dict[str, str]]]]):
    made, read = full
    items = made.targets[0].conditions
    assert {name: len(rows) for name, rows in read.items()} == {
        "metrics": sum(1 + len(figure.by_multiplicity) for item in items for figure in item.metrics.values()),
        "differences": sum(
            1 + len(found.by_multiplicity)
            for item in items
            for by_metric in item.differences.values()
            for found in by_metric.values()
        ),
        "unmeasured": sum(len(item.unmeasured) for item in items),
        "attacks": sum(3 + len(found.by_multiplicity) for item in items for found in item.attacks),
        "roc": sum(len(found.curve) for item in items for found in item.attacks),
        "extraction": 7 * 4 * (2 + 5),  # conditions, ways; planted, left out and five multiplicities
        "epsilon": 7,
        "judged": 3,
        "disclosures": 3 * 4,
        "costs": 5,  # two rewrites, three judges
        "correlations": 6,
    }


def test_tables_hold_what_the_landscape_holds(full: tuple[Landscape, dict[str, list[dict[str, str]]]]):
    made, read = full
    rewrite = next(item for item in made.targets[0].conditions if item.name == "rewrite")
    [judged] = [row for row in read["judged"] if row["condition"] == "rewrite"]
    assert rewrite.judged[0].privacy is not None
    assert float(judged["privacy_value"]) == rewrite.judged[0].privacy.value
    assert judged["corpus"] == "corpus-rewrite"
    [bound] = [row for row in read["epsilon"] if row["condition"] == "dp-8"]
    assert (bound["claimed_epsilon"], bound["delta"], bound["copies"]) == ("7.98", "1e-05", "1 4 16 32 64")
    rates = [row for row in read["attacks"] if row["condition"] == "direct" and row["figure"] == "tpr_at_0.001"]
    assert {row["resolved"] for row in rates if row["members"] == "record"} == {"false"}
    assert [row["attack"] for row in rates if row["primary"] == "true"] == ["min_k_plus_plus"] * 2
    pair = next(row for row in read["correlations"] if row["x"] == "judged_privacy")
    assert (pair["target"], pair["y"], pair["n"]) == ("tiny", "verbatim_perplexity", "3")
