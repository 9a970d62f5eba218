import math
from pathlib import Path

import landscape_fakes as fakes
import pytest

from leakscape.artifacts import Manifest
from leakscape.gate import drift, history
from leakscape.gate.history import Entry
from leakscape.landscape.estimates import Settings
from leakscape.landscape.inputs import Measured
from leakscape.scoring.measurements import Measurements

SETTINGS = Settings(resamples=200)


def measured(data: Measurements, canaries: str = "c") -> Measured:
    manifest = Manifest(schema="", files={}, inputs={"canaries": canaries, "held_out": "h"})
    return Measured(Path(), manifest, data)


def entry(scores: history.Scores, canaries: str = "c") -> Entry:
    return Entry(
        schema=history.SCHEMA, plan="p", target="tiny", audit="a" * 64, date="", passed=True, figures={},
        canaries=canaries, held_out="h", scores=scores,
    )  # fmt: skip


def data(*perplexities: tuple[str, float, int]) -> Measurements:
    rows = [fakes.row("verbatim", name, value, multiplicity=copies) for name, value, copies in perplexities]
    return fakes.measurements(rows, condition="direct", adapters=("a",))


def test_scores_are_nats_a_token_and_leave_out_what_was_never_trained_on():
    found = drift.scores_of([measured(data(("canary-0", 4.0, 1), ("canary-1", 8.0, 0)))])
    assert found["direct"].keys() == {"verbatim_perplexity"}
    assert found["direct"]["verbatim_perplexity"] == pytest.approx({"canary-0": math.log(4.0)})


def test_a_change_is_the_geometric_mean_of_the_ratios_of_the_pairs():
    # 8/4, 8/2 and a canary without a pair: sqrt(2 * 4) = 2.828.
    then = {"direct": {"verbatim_perplexity": {"canary-0": math.log(4), "canary-1": math.log(2)}}}
    now = measured(data(("canary-0", 8.0, 1), ("canary-1", 8.0, 4), ("canary-2", 50.0, 1)))
    changes = drift.compare({"tiny": [now]}, {"tiny": entry(then)}, SETTINGS)
    (found,) = changes.drift
    assert found.value == pytest.approx(math.sqrt(8))
    assert (found.n, found.scale) == (2, "ratio")
    assert found.p == 0.5  # two pairs that point one way: 2 of 4 sign patterns


def test_what_can_not_be_paired_says_why():
    now = measured(data(("canary-0", 8.0, 1)))
    place = ("tiny", "direct", "verbatim_perplexity")
    then = {"direct": {"verbatim_perplexity": {"canary-0": 1.0}}}
    assert "no earlier audit" in drift.compare({"tiny": [now]}, {"tiny": None}, SETTINGS).skipped[place]
    other = drift.compare({"tiny": [now]}, {"tiny": entry(then, canaries="others")}, SETTINGS)
    assert "used other canaries" in other.skipped[place]
    missing = drift.compare({"tiny": [now]}, {"tiny": entry({})}, SETTINGS)
    assert "did not measure verbatim_perplexity of direct" in missing.skipped[place]
    assert other.drift == missing.drift == []
