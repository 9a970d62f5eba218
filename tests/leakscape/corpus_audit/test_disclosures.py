"""Exact values by counting tables; the null by going through every table there is, and end to end."""

import datetime as dt
import math
import random

import pytest
from scipy.stats import binom, hypergeom

from leakscape.corpus_audit.disclosures import compare, excess_p
from leakscape.corpus_audit.features import Count, FeatureIndex
from leakscape.records import builtin
from leakscape.records.record import Record, render


def count(train: int, train_hits: int, held_out: int, held_out_hits: int) -> Count:
    return Count(train=train, train_hits=train_hits, held_out=held_out, held_out_hits=held_out_hits)


@pytest.mark.parametrize(
    ("counted", "p"),
    [
        (count(10, 10, 10, 0), 1 / math.comb(20, 10)),
        (count(3, 2, 3, 1), 0.5),  # tables with 2 or 3 of 3 hits on train: (3 * 3 + 1) / 20
        (count(10, 0, 10, 10), 1.0),
        (count(5, 0, 5, 0), 1.0),
        (count(5, 5, 5, 5), 1.0),
        (count(4, 1, 96, 0), 0.04),  # one hit falls on one of four among a hundred
    ],
)
def test_p_is_the_share_of_tables_at_least_as_lopsided(counted: Count, p: float) -> None:
    assert excess_p(counted) == pytest.approx(p, rel=1e-9)


def test_figures_by_hand() -> None:
    found = compare({"name": count(100, 86, 20, 0), "city": count(50, 5, 50, 5), "ssn": count(9, 9, 0, 0)})
    name = found["types"]["name"]
    # Exact 95 % intervals: 86 of 100 -> .776 to .921; none of 20 -> at most .168.
    assert (name["train"]["low"], name["train"]["high"]) == pytest.approx((0.776, 0.921), abs=5e-4)
    assert name["held_out"]["high"] == pytest.approx(0.168, abs=5e-4)
    assert name["difference"] == pytest.approx(0.86)
    assert name["beyond_chance"] == pytest.approx(86)
    city = found["types"]["city"]
    assert (city["difference"], city["beyond_chance"], city["p_holm"]) == (0, 0, city["p"])
    # Holm over the two types that were tested.
    assert name["p_holm"] == pytest.approx(2 * name["p"])
    assert found["untested"] == {"ssn": "nobody in held-out carries a rare feature of this type"}


def test_nothing_to_test_is_said() -> None:
    found = compare({"name": count(0, 0, 0, 0)})
    assert found["types"] == {}
    assert found["untested"] == {"name": "nobody in train or held-out carries a rare feature of this type"}


# If train is hit no more often than held-out, hits fall on the sides like balls drawn from an urn.
@pytest.mark.parametrize(
    ("train", "held_out", "hits", "least"),
    [(2000, 2000, 1000, 0.04), (5000, 500, 800, 0.04), (100, 6300, 900, 0.025), (20, 20, 3, 0.0)],
)
def test_null_rejects_in_at_most_five_percent(train: int, held_out: int, hits: int, least: float) -> None:
    likely = hypergeom(train + held_out, hits, train)
    spread = range(max(0, hits - held_out), min(train, hits) + 1)
    rejected = sum(
        likely.pmf(found)
        for found in spread
        if likely.pmf(found) > 1e-12 and excess_p(count(train, found, held_out, hits - found)) <= 0.05
    )
    assert least <= rejected <= 0.05


def people(stream: str, many: int) -> list[Record]:
    return list(builtin.generate(many, seed=5, stream=stream, reference_date=dt.date(2026, 1, 1)))


def test_null_end_to_end_a_corpus_of_other_people_is_not_accused() -> None:
    pool, others = people("train", 100), people("exemplars", 60)
    texts = [render(record)[0] for record in others]
    draws, accused, hits = 40, 0, 0
    for seed in range(draws):
        shuffled = random.Random(seed).sample(pool, len(pool))
        index = FeatureIndex(rare_below=4, run=4)
        for place, record in enumerate(shuffled):
            index.add(record, render(record)[0], held_out=place >= 60)
        for text in texts:
            index.look(text)
        found = compare(index.counts())["types"]
        accused += any(kind["p_holm"] <= 0.05 for kind in found.values())
        hits += sum(kind["train"]["hits"] + kind["held_out"]["hits"] for kind in found.values())
    assert hits > 10 * draws  # there were phantoms enough for a test that counts wrongly to accuse
    assert accused <= binom(draws, 0.05).ppf(0.999)


def test_the_corpus_itself_is_accused_of_everything() -> None:
    train, held_out = people("train", 60), people("held-out", 60)
    index = FeatureIndex(rare_below=2, run=8)
    for side, records in ((False, train), (True, held_out)):
        for record in records:
            index.add(record, render(record)[0], held_out=side)
    for record in train:
        index.look(render(record)[0])
    found = compare(index.counts())["types"]
    for kind in ("name", "birth_date", "ssn", "street", "word_run"):
        assert found[kind]["train"]["value"] == 1
        assert found[kind]["p_holm"] < 1e-10
    assert found["ssn"]["held_out"]["hits"] == 0
