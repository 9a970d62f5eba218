"""Figures of attacks from rows: the right sides, the right attack, and nothing where nothing can be told."""

import numpy as np
import pytest

from leakscape.scoring.attack_rows import AttackRow
from leakscape.statistics.membership import attack_figures, classification_metrics, coin_audit, primary


def canary(name: str, multiplicity: int, score: float, attack: str = "loss") -> AttackRow:
    member = multiplicity > 0
    return AttackRow(attack=attack, id=name, kind="canary", member=member, multiplicity=multiplicity, score=score)


def record(name: str, score: float, *, member: bool, attack: str = "loss") -> AttackRow:
    return AttackRow(attack=attack, id=name, kind="record", member=member, multiplicity=None, score=score)


RECORDS = [record("t-1", 3, member=True), record("t-2", 1, member=True), record("h-1", 2, member=False)]


def test_records_are_told_from_records_and_canaries_from_those_left_out():
    rows = [canary("c-1", 1, 5), canary("c-2", 4, 9), canary("c-3", 0, 7), *RECORDS]
    records, canaries = attack_figures(rows)
    assert (records.kind, records.others, records.area.value) == ("record", "record", 0.5)
    assert (canaries.kind, canaries.others, canaries.area.value) == ("canary", "canary", 0.5)
    assert {times: found.value for times, found in canaries.by_multiplicity.items()} == {1: 0.0, 4: 1.0}
    assert records.by_multiplicity == {}
    assert [found.allowed for found in records.detections] == [0.01, 0.001]
    assert not any(found.resolved for found in records.detections)


def test_without_coins_canaries_are_told_from_held_out_records():
    _, canaries = attack_figures([canary("c-1", 1, 5), *RECORDS])
    assert (canaries.kind, canaries.others, canaries.area.value) == ("canary", "record", 1.0)


def test_sides_that_are_missing_give_no_figures():
    assert attack_figures([]) == []
    assert attack_figures(RECORDS[:2]) == []
    assert [found.kind for found in attack_figures([canary("c-1", 1, 5), canary("c-2", 0, 1)])] == ["canary"]


def test_the_primary_attack_does_not_depend_on_scores():
    both = [*RECORDS, record("t-1", -9, member=True, attack="min_k_plus_plus")]
    assert (primary(RECORDS), primary(both), primary([])) == ("loss", "min_k_plus_plus", "")


def test_kubeflow_s_curve_by_hand():
    drawn = classification_metrics(RECORDS)
    points = [
        (point["recall"], point["falsePositiveRate"], point["confidenceThreshold"])
        for point in drawn["confidenceMetrics"]
    ]
    assert points == [(0, 0, pytest.approx(3)), (0.5, 0, 3), (0.5, 1, 2), (1, 1, 1)]
    assert points[0][2] > 3
    assert drawn["auc"] == 0.5
    assert classification_metrics([]) == {"confidenceMetrics": []}


def test_coins_bound_epsilon():
    rows = [canary(f"c-{number}", number % 2, float(number % 2)) for number in range(200)]
    found = coin_audit(rows, delta=1e-5)
    assert (found.attack, found.copies) == ("loss", (1,))
    assert (found.bound.canaries, found.bound.guesses, found.bound.right) == (200, 100, 100)
    assert found.bound.epsilon == pytest.approx(3.49, abs=0.01)
    rows += [canary(f"c-{number}", number % 2, 0.0, "min_k_plus_plus") for number in range(200)]
    blind = coin_audit(rows, delta=1e-5)
    assert (blind.attack, blind.bound.epsilon) == ("min_k_plus_plus", 0)
    assert coin_audit(rows, delta=1e-5, attack="loss") == found
    assert coin_audit(rows, delta=1e-5, attack="zlib") is None


def test_without_coins_nothing_bounds_epsilon():
    assert coin_audit([canary("c-1", 1, 1), canary("c-2", 4, 2)], delta=1e-5) is None
    assert coin_audit([canary("c-1", 0, 1)], delta=1e-5) is None
    assert coin_audit(RECORDS, delta=1e-5) is None


def test_random_scores_tell_nothing():
    rng = np.random.default_rng(4)
    areas = []
    for _ in range(150):
        rows = [record(f"r-{number}", float(rng.random()), member=number % 2 == 0) for number in range(60)]
        areas.append(attack_figures(rows)[0].area)
    assert np.mean([found.value for found in areas]) == pytest.approx(0.5, abs=0.025)
    assert np.mean([found.low <= 0.5 <= found.high for found in areas]) >= 0.88
