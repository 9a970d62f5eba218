"""Expected values: the Gaussian noise of algorithm 1 of Abadi et al. 2016, on the sum and anew in each step."""

from __future__ import annotations

import math

import pytest
import torch
from dp_toys import PAD, adapted, brute_force, clipped_sum, draw, examples, flat, sgd, update
from scipy import stats

from leakscape.training.accounting import Schedule, schedule
from leakscape.training.dp import DpSettings, train_private
from leakscape.training.dp_lots import units_of
from leakscape.training.lora import snapshot, trainable


def test_noise_has_its_deviation_and_the_signal_vanishes() -> None:
    sigma, clip, lot = 1e4, 0.5, 8
    units = units_of(examples(lot), "record")
    gradient = clipped_sum(brute_force(adapted("llama"), units), clip) / lot
    settings = DpSettings(sigma=sigma, clip=clip, learning_rate=1.0, micro_batch=2)  # four pieces, noise once
    found = update(adapted("llama"), units, settings, schedule(units=lot, lot=lot, epochs=1))
    count = len(found)
    assert count > 2000
    deviation = sigma * clip / lot
    assert stats.kstest(found.numpy() / deviation, "norm").pvalue > 1e-3
    assert float(found.std()) == pytest.approx(deviation, rel=4 / math.sqrt(2 * count))
    assert abs(float(torch.corrcoef(torch.stack([found, gradient]))[0, 1])) < 4 / math.sqrt(count)


def test_noise_of_the_system_is_as_large_and_never_the_same() -> None:
    sigma, clip, lot = 1e4, 0.5, 8
    units = units_of(examples(lot), "record")
    settings = DpSettings(sigma=sigma, clip=clip, learning_rate=1.0, micro_batch=2, noise_from="system")
    plan = schedule(units=lot, lot=lot, epochs=1)
    found, other = (update(adapted("llama"), units, settings, plan) for _ in range(2))
    deviation, count = sigma * clip / lot, len(found)
    # Nothing seeds these draws, so the bounds are those of once in a billion.
    assert stats.kstest(found.numpy() / deviation, "norm").pvalue > 1e-9
    assert float(found.std()) == pytest.approx(deviation, rel=6.2 / math.sqrt(2 * count))
    assert abs(float(torch.corrcoef(torch.stack([found, other]))[0, 1])) < 6.2 / math.sqrt(count)


def test_noise_stands_on_the_sum_beside_the_signal() -> None:
    units = units_of(examples(8), "record")
    plan = schedule(units=8, lot=8, epochs=1)
    right = update(adapted("llama"), units, DpSettings(sigma=0, clip=0.5, learning_rate=1.0), plan)
    found = update(adapted("llama"), units, DpSettings(sigma=0.1, clip=0.5, learning_rate=1.0), plan)
    assert float((found - right).std()) == pytest.approx(0.1 * 0.5 / 8, rel=0.06)


def test_steps_have_noise_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    units = units_of(examples(4), "record")
    draw(monkeypatch, [[], []])
    plan = Schedule(units=4, sample_rate=0.5, steps=2)
    model = adapted("llama")
    states = [flat(list(snapshot(model).values()))]
    settings = DpSettings(sigma=3, clip=0.5, learning_rate=1.0)
    train_private(
        model, units, settings, plan, pad_id=PAD, make_optimizer=sgd,
        on_step=lambda _: states.append(flat(list(trainable(model).values()))),
    )  # fmt: skip
    one, two = states[1] - states[0], states[2] - states[1]
    assert abs(float(torch.corrcoef(torch.stack([one, two]))[0, 1])) < 4 / math.sqrt(len(one))


def test_an_empty_lot_adds_noise_and_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    units = units_of(examples(6), "record")
    draw(monkeypatch, [[0, 3], [], [1]])
    model, seen = adapted("llama"), []
    plan = Schedule(units=6, sample_rate=2 / 6, steps=3)
    settings = DpSettings(sigma=2, learning_rate=1.0)
    done = train_private(
        model, units, settings, plan, pad_id=PAD, make_optimizer=sgd,
        on_step=lambda _: seen.append(flat(list(trainable(model).values()))),
    )  # fmt: skip
    assert done.lots == [2, 0, 1]
    assert [step.loss is None for step in done.steps] == [False, True, False]
    assert done.steps[1].tokens == 0
    assert float((seen[1] - seen[0]).std()) == pytest.approx(2 * 1 / 2, rel=0.06)
