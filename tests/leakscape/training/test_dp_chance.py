"""Expected values: the uniform and the Gaussian distribution; the draws are of the system, so the bounds are wide."""

import math
import os

import pytest
import torch
from scipy import stats

from leakscape.training.accounting import Schedule
from leakscape.training.dp_chance import system_normal, system_uniform
from leakscape.training.dp_lots import poisson_lots

ONCE_IN_A_BILLION = 1e-9


def test_uniform_draws_are_uniform_and_never_0() -> None:
    draws = system_uniform(50_000)
    assert 0 < draws.min() <= draws.max() <= 1
    assert stats.kstest(draws, "uniform").pvalue > ONCE_IN_A_BILLION


@pytest.mark.parametrize(("byte", "value"), [(b"\x00", 2.0**-53), (b"\xff", 1.0)])
def test_the_ends_of_the_range(monkeypatch: pytest.MonkeyPatch, byte: bytes, value: float) -> None:
    monkeypatch.setattr(os, "urandom", lambda count: byte * count)
    assert system_uniform(3).tolist() == [value] * 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_noise_is_gaussian_of_the_deviation_asked_for(dtype: torch.dtype) -> None:
    noise = system_normal(torch.empty(100, 300, dtype=dtype), 2.5)
    assert (noise.shape, noise.dtype) == ((100, 300), dtype)
    assert stats.kstest(noise.double().flatten().numpy() / 2.5, "norm").pvalue > ONCE_IN_A_BILLION
    assert system_normal(torch.empty(0, 4), 1.0).shape == (0, 4)


def test_no_two_draws_agree() -> None:
    first, second = (system_normal(torch.empty(50), 1.0) for _ in range(2))
    assert not torch.isin(first, second).any()


def test_lots_of_the_system_have_the_exact_rate_and_are_new_each_time() -> None:
    plan = Schedule(units=300, sample_rate=64 / 300, steps=400)
    lots = poisson_lots(plan, seed=None)
    deviation = math.sqrt(300 * (64 / 300) * (1 - 64 / 300))
    assert abs(sum(map(len, lots)) / 400 - 64) < 6 * deviation / math.sqrt(400)
    assert all(lot == sorted(set(lot)) for lot in lots)
    assert lots != poisson_lots(plan, seed=None)
    everyone = Schedule(units=5, sample_rate=1.0, steps=2)
    assert poisson_lots(everyone, seed=None) == [list(range(5))] * 2
