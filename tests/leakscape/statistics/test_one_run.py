"""The one-run bound against the figures of Steinke et al. 2023's formula, against closed forms and by its null."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.statistics.one_run import audit, epsilon_lower_bound, guess, p_value, planned_guesses


@pytest.mark.parametrize(
    ("canaries", "guesses", "accuracy", "bound"),
    [
        (200, 100, 1.0, 3.49),
        (200, 100, 0.9, 1.63),
        (200, 100, 0.75, 0.70),
        (1000, 500, 1.0, 5.09),
        (1000, 500, 0.9, 1.95),
        (1000, 500, 0.75, 0.92),
    ],
)
def test_reference_figures(canaries: int, guesses: int, accuracy: float, bound: float):
    found = epsilon_lower_bound(canaries, guesses, round(guesses * accuracy), delta=1e-5)
    assert found == pytest.approx(bound, abs=0.006)


def test_all_right_without_delta_has_a_closed_form():
    # q^r = .05, so e^-eps = .05^(-1/r) - 1.
    assert epsilon_lower_bound(10, 10, 10, delta=0) == pytest.approx(-math.log(0.05 ** (-1 / 10) - 1), abs=1e-9)


def brute_force(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    q = math.exp(epsilon) / (1 + math.exp(epsilon))

    def at_least(k: int) -> float:
        return sum(math.comb(r, j) * q**j * (1 - q) ** (r - j) for j in range(max(k, 0), r + 1))

    alpha = max([(at_least(v - i) - at_least(v)) / i for i in range(1, v + 1)], default=0)
    return min(1, at_least(v) + 2 * m * delta * alpha)


@given(st.data(), st.floats(0, 6), st.sampled_from([0, 1e-5, 0.01, 1]))
def test_p_value_equals_the_formula_term_by_term(data: st.DataObject, epsilon: float, delta: float):
    m = data.draw(st.integers(1, 40))
    r = data.draw(st.integers(1, m))
    v = data.draw(st.integers(0, r))
    assert p_value(m, r, v, epsilon, delta=delta) == pytest.approx(brute_force(m, r, v, epsilon, delta), abs=1e-9)


@given(st.integers(2, 300), st.floats(0, 1), st.sampled_from([0, 1e-6, 1e-5]))
def test_the_bound_is_refuted_and_a_little_more_is_not(m: int, share: float, delta: float):
    r = planned_guesses(m)
    v = round(r * share)
    bound = epsilon_lower_bound(m, r, v, delta=delta)
    assert bound == 0 or p_value(m, r, v, bound, delta=delta) <= 0.05 + 1e-12
    assert p_value(m, r, v, bound + 1e-6, delta=delta) > 0.05


@given(st.integers(2, 200), st.data())
def test_more_right_guesses_never_show_less(m: int, data: st.DataObject):
    r = planned_guesses(m)
    v = data.draw(st.integers(0, r - 1))
    assert epsilon_lower_bound(m, r, v, delta=1e-5) <= epsilon_lower_bound(m, r, v + 1, delta=1e-5)


@pytest.mark.parametrize(("canaries", "guesses"), [(2, 2), (3, 2), (7, 2), (8, 4), (100, 50), (200, 100), (1000, 500)])
def test_the_number_of_guesses_depends_on_the_canaries_alone(canaries: int, guesses: int):
    assert planned_guesses(canaries) == guesses


def test_guesses_by_hand():
    assert guess(np.array([0.1, 0.9, 0.5, -1.0, 0.4, 0.2]), 4).tolist() == [-1, 1, 1, -1, 0, 0]
    # All equal: the earlier ones in, the later ones out, whatever the coins.
    assert guess(np.zeros(6), 4).tolist() == [1, 1, 0, 0, -1, -1]


def test_an_audit_by_hand():
    found = audit(np.arange(8.0), [True, False, False, False, True, True, True, True], delta=1e-5)
    # 8 canaries, 4 guesses: 6 and 7 in (right, right), 0 out (wrong), 1 out (right).
    assert (found.canaries, found.guesses, found.right, found.epsilon) == (8, 4, 3, 0.0)


def test_on_random_scores_nothing_is_shown_in_95_of_100_draws():
    rng = np.random.default_rng(7)
    shown = sum(
        audit(rng.standard_normal(100), rng.integers(0, 2, 100).astype(bool), delta=1e-5).epsilon > 0
        for _ in range(1_000)
    )
    assert shown <= 50


@pytest.mark.parametrize("m", [20, 100, 200, 1000])
def test_the_null_is_kept_exactly(m: int):
    # Guesses blind to the coins are right Bin(r, 1/2) times: the chance of any positive bound is a sum.
    r = planned_guesses(m)
    chance = sum(math.comb(r, v) for v in range(r + 1) if p_value(m, r, v, 0, delta=1e-5) <= 0.05) / 2**r
    assert chance <= 0.05


def test_the_bound_passes_the_true_epsilon_in_at_most_5_percent():
    # Randomised response at epsilon 1 tells each coin truly with chance e / (1 + e): v is Bin(r, e / (1 + e)).
    q, r = math.e / (1 + math.e), 100
    passing = [v for v in range(r + 1) if epsilon_lower_bound(200, r, v, delta=0) > 1]
    chance = sum(math.comb(r, v) * q**v * (1 - q) ** (r - v) for v in passing)
    assert 0.01 < chance <= 0.05


@pytest.mark.parametrize(
    ("m", "r", "v", "epsilon", "delta"),
    [(10, 11, 5, 0, 0), (10, 5, 6, 0, 0), (10, 0, 0, 0, 0), (10, 5, -1, 0, 0), (10, 5, 5, -1, 0), (10, 5, 5, 0, 2)],
)
def test_impossible_counts_are_refused(m: int, r: int, v: int, epsilon: float, delta: float):
    with pytest.raises(ValueError, match=r"from 0|among"):
        p_value(m, r, v, epsilon, delta=delta)


def test_scores_that_are_no_numbers_and_lost_coins_are_refused():
    with pytest.raises(ValueError, match="numbers"):
        audit(np.array([0.0, math.nan, 1.0]), [True, False, True], delta=0)
    with pytest.raises(ValueError, match="coin"):
        audit(np.arange(3.0), [True, False], delta=0)
    with pytest.raises(ValueError, match="two canaries"):
        audit(np.arange(1.0), [True], delta=0)
    with pytest.raises(ValueError, match="pairs"):
        guess(np.arange(3.0), 3)
    with pytest.raises(ValueError, match="confidence"):
        epsilon_lower_bound(10, 4, 4, delta=0, confidence=1)
