"""Expected values: algorithm 1 of Abadi et al. 2016 by brute force, one record at a time, with plain SGD."""

from __future__ import annotations

import math

import pytest
import torch
from dp_toys import PAD, adapted, brute_force, clipped_sum, draw, examples, flat, relative, update

from leakscape.training import dp
from leakscape.training.accounting import Schedule, schedule
from leakscape.training.dp import DpSettings, train_private
from leakscape.training.dp_lots import units_of
from leakscape.training.lora import snapshot, trainable
from leakscape.training.objective import record_losses

PERSONS = ["a", "b", "c", "b", "c", "c", "c", "c"]  # 1, 2 and 5 records


@pytest.mark.parametrize("architecture", ["llama", "qwen3_5", "gpt_oss"])
def test_update_is_the_clipped_sum_over_the_lot(architecture: str) -> None:
    model = adapted(architecture)
    units = units_of(examples(7), "record")
    gradients = brute_force(model, units)
    clip = sorted(float(gradient.norm()) for gradient in gradients)[3]  # the median: some are clipped, some are not
    settings = DpSettings(sigma=0, clip=clip, learning_rate=1.0, micro_batch=3)
    found = update(model, units, settings, schedule(units=7, lot=7, epochs=1))
    assert relative(found, clipped_sum(gradients, clip) / 7) < 1e-5


@pytest.mark.parametrize("micro_batch", [2, 8])
def test_a_person_is_clipped_as_one(micro_batch: int) -> None:
    model = adapted("llama")
    units = units_of(examples(8, persons=PERSONS), "person")
    gradients = brute_force(model, units)
    clip = 0.9 * min(float(gradient.norm()) for gradient in gradients)  # all are clipped
    settings = DpSettings(sigma=0, clip=clip, learning_rate=1.0, micro_batch=micro_batch)
    found = update(model, units, settings, schedule(units=3, lot=3, epochs=1))
    assert relative(found, clipped_sum(gradients, clip) / 3) < 1e-5


def test_without_noise_and_clipping_it_is_plain_sgd() -> None:
    model, plain = adapted("llama"), adapted("llama")
    made = examples(6)
    before = flat(list(snapshot(plain).values()))
    optimizer = torch.optim.SGD(trainable(plain).values(), lr=0.5)
    for _ in range(2):
        for example in made:
            ids = torch.tensor([example.ids])
            (record_losses(plain(input_ids=ids, use_cache=False).logits, ids).sum() / 6).backward()
        optimizer.step()
        optimizer.zero_grad()
    settings = DpSettings(sigma=0, clip=math.inf, learning_rate=0.5, micro_batch=4)
    found = update(model, units_of(made, "record"), settings, schedule(units=6, lot=6, epochs=2))
    assert relative(found, before - flat(list(trainable(plain).values()))) < 1e-5


# known fault (opacus #420, #571): dividing by the drawn lot leaks more than is reported
@pytest.mark.parametrize("drawn", [14, 10, 17])
def test_denominator_is_the_expected_lot(monkeypatch: pytest.MonkeyPatch, drawn: int) -> None:
    model = adapted("llama")
    units = units_of(examples(40), "record")
    gradients = brute_force(model, units[:drawn])
    draw(monkeypatch, [list(range(drawn))])
    plan = Schedule(units=40, sample_rate=16 / 40, steps=1)
    found = update(model, units, DpSettings(sigma=0, clip=0.5, learning_rate=1.0, micro_batch=4), plan)
    assert relative(found, clipped_sum(gradients, 0.5) / 16) < 1e-5


def test_without_noise_the_systems_lots_are_clipped_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dp, "poisson_lots", lambda _plan, *, seed: [[0, 2]] if seed is None else [])
    units = units_of(examples(4), "record")
    gradients = brute_force(adapted("llama"), [units[0], units[2]])
    settings = DpSettings(sigma=0, clip=0.5, learning_rate=1.0, noise_from="system")
    found = update(adapted("llama"), units, settings, Schedule(units=4, sample_rate=0.5, steps=1))
    assert relative(found, clipped_sum(gradients, 0.5) / 2) < 1e-5


def test_a_control_may_begin_with_an_empty_lot(monkeypatch: pytest.MonkeyPatch) -> None:
    draw(monkeypatch, [[], [0]])
    plan = Schedule(units=3, sample_rate=1 / 3, steps=2)
    done = train_private(adapted(), units_of(examples(3), "record"), DpSettings(sigma=0), plan, pad_id=PAD)
    assert [step.loss is None for step in done.steps] == [True, False]


def test_micro_batches_change_nothing() -> None:
    units = units_of(examples(12), "record")
    plan = schedule(units=12, lot=6, epochs=1)
    found = [
        update(adapted("llama"), units, DpSettings(sigma=0.5, learning_rate=1.0, micro_batch=size), plan)
        for size in (1, 5, 50)
    ]
    assert relative(found[0], found[2]) < 1e-5
    assert relative(found[1], found[2]) < 1e-5
