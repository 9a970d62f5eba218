"""Expected noise: facts of paper 000's run as in the module's docstring; dp-accounting as an independent accountant."""

import math

import dp_accounting
import pytest
from dp_accounting import pld, rdp

from leakscape.errors import InputError
from leakscape.training import accounting
from leakscape.training.accounting import Schedule, calibrate, schedule, spent

PAPER = Schedule(units=7340, sample_rate=512 / 7340, steps=28)


def test_schedule_of_the_paper() -> None:
    assert schedule(units=7340, lot=512, epochs=2) == PAPER


# 2 * 300 / 64 = 9.375; a rate of 1 / ceil(300 / 64) would turn lot 64 into 60
def test_schedule_keeps_the_exact_rate_and_whole_steps() -> None:
    assert schedule(units=300, lot=64, epochs=2) == Schedule(units=300, sample_rate=64 / 300, steps=9)


@pytest.mark.parametrize(
    ("units", "lot", "epochs", "words"),
    [(0, 8, 1, "empty"), (100, 101, 1, "larger than the 100 units"), (100, 60, 1 / 2, "no step")],
)
def test_schedule_refuses(units: int, lot: float, epochs: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        schedule(units=units, lot=lot, epochs=epochs)


def test_lot_equal_to_the_data_samples_every_unit() -> None:
    assert schedule(units=50, lot=50, epochs=3).sample_rate == 1.0


@pytest.mark.parametrize(("epsilon", "sigma"), [(8, 0.639), (16, 0.473), (32, 0.350), (64, 0.257)])
def test_prv_noise_of_the_paper(epsilon: float, sigma: float) -> None:
    budget = calibrate(epsilon=epsilon, delta=1e-5, plan=PAPER)
    assert budget.accountant == "prv"
    assert budget.sigma == pytest.approx(sigma, rel=5e-3)
    assert 0.99 * epsilon <= budget.epsilon <= epsilon


def test_rdp_takes_over_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = accounting._epsilon
    monkeypatch.setattr(accounting, "_epsilon", lambda name, *rest: None if name == "prv" else real(name, *rest))
    budget = calibrate(epsilon=8, delta=1e-5, plan=PAPER)
    assert budget.accountant == "rdp"
    assert budget.sigma == pytest.approx(0.688, rel=5e-3)


def test_very_large_epsilon_is_accounted_by_rdp() -> None:
    assert calibrate(epsilon=500, delta=1e-5, plan=PAPER).accountant == "rdp"


def test_reported_epsilon_is_confirmed_by_an_independent_accountant() -> None:
    budget = calibrate(epsilon=8, delta=1e-5, plan=PAPER)
    event = dp_accounting.PoissonSampledDpEvent(PAPER.sample_rate, dp_accounting.GaussianDpEvent(budget.sigma))
    independent = pld.PLDAccountant().compose(event, PAPER.steps).get_epsilon(1e-5)
    assert independent == pytest.approx(budget.epsilon, rel=5e-3)
    assert independent <= budget.epsilon
    looser = rdp.RdpAccountant().compose(event, PAPER.steps).get_epsilon(1e-5)
    assert looser >= budget.epsilon


@pytest.mark.parametrize("epsilon", [math.inf, math.nan, 0.0, -1.0])
def test_budget_without_a_meaning_is_refused(epsilon: float) -> None:
    with pytest.raises(InputError, match="--epsilon must be positive and finite"):
        calibrate(epsilon=epsilon, delta=1e-5, plan=PAPER)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-5, math.nan])
def test_delta_outside_its_range_is_refused(delta: float) -> None:
    with pytest.raises(InputError, match="--delta must lie between 0 and 1"):
        calibrate(epsilon=8, delta=delta, plan=PAPER)


def test_spent_returns_what_calibrate_promised() -> None:
    budget = calibrate(epsilon=8, delta=1e-5, plan=PAPER)
    assert spent(sigma=budget.sigma, delta=1e-5, plan=PAPER) == budget


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.inf, math.nan])
def test_noise_without_a_meaning_is_refused(sigma: float) -> None:
    with pytest.raises(InputError, match="no finite epsilon"):
        spent(sigma=sigma, delta=1e-5, plan=PAPER)


def test_more_steps_spend_more() -> None:
    fewer = spent(sigma=1.0, delta=1e-5, plan=Schedule(units=1000, sample_rate=0.05, steps=20))
    more = spent(sigma=1.0, delta=1e-5, plan=Schedule(units=1000, sample_rate=0.05, steps=80))
    assert fewer.epsilon < more.epsilon
