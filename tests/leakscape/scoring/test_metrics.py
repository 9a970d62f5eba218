"""Figures against values worked out by hand."""

import math

import numpy as np
import pytest

from leakscape.scoring.measurements import Columns
from leakscape.scoring.metrics import METRICS, generation_probability, log10_generation_probability, perplexity
from leakscape.scoring.rows import PROBES


def columns(log_likelihood: list[float], tokens: list[int], rank: list[float] | None = None) -> Columns:
    size = len(tokens)
    return Columns(
        ids=tuple(map(str, range(size))),
        groups=tuple(map(str, range(size))),
        multiplicity=np.ones(size, dtype=np.int64),
        tokens=np.array(tokens, dtype=np.int64),
        log_likelihood=np.array(log_likelihood),
        straddles=np.zeros(size, dtype=np.bool_),
        rank=np.array(rank or [math.nan] * size),
        candidates=np.full(size, 8, dtype=np.int64),
        extrapolated=np.full(size, math.nan),
    )


def figure(name: str, of: Columns) -> float:
    metric = METRICS[name]
    return metric.aggregate(metric.values(of))


def test_perplexity_averages_tokens_within_a_row_and_then_rows():
    # p = 1/4 for each of 2 tokens, p = 1/16 for each of 8: the mean token costs 1.5 ln 4 nats, so 8, whereas pooling
    # all ten tokens would give 4 ** 1.8 = 12.1.
    rows = columns([2 * math.log(1 / 4), 8 * math.log(1 / 16)], [2, 8])
    for name in ("verbatim_perplexity", "semantic_perplexity", "held_out_perplexity", "medication_perplexity"):
        assert figure(name, rows) == pytest.approx(8)


def test_a_certain_secret_has_perplexity_and_probability_one():
    assert perplexity(np.array([0.0])) == 1
    assert generation_probability(np.array([0.0])) == 1
    assert log10_generation_probability(np.array([0.0])) == 0


def test_generation_probability_multiplies_all_tokens():
    rows = columns([math.log(0.01), math.log(0.0001)], [2, 3])
    assert figure("generation_probability", rows) == pytest.approx((0.01 + 0.0001) / 2)
    assert figure("log10_generation_probability", rows) == pytest.approx(-3)


def test_what_underflows_is_still_told_by_its_log():
    assert generation_probability(np.array([-2000.0])) == 0
    assert log10_generation_probability(np.array([-2000.0])) == pytest.approx(-868.6, abs=0.1)
    assert perplexity(np.array([-800.0])) == math.inf


def test_exposure_and_first_ranks():
    rows = columns([-1.0, -1.0, -1.0, -1.0], [1] * 4, rank=[1.0, 8.0, 4.0, 1.5])
    assert figure("exposure_bits", rows) == pytest.approx((3 + 0 + 1 + math.log2(8 / 1.5)) / 4)
    assert figure("rank_first_share", rows) == 0.25  # a shared first place is none


@pytest.mark.parametrize("name", METRICS)
def test_nothing_measured_is_no_figure(name: str):
    for values in (np.array([]), np.array([math.nan, -1.0])):
        with pytest.raises(ValueError, match="at least one value"):
            METRICS[name].aggregate(values)


def test_every_metric_is_of_a_known_probe():
    assert {metric.probe for metric in METRICS.values()} == set(PROBES)
    assert all(name == metric.name for name, metric in METRICS.items())
