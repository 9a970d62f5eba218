"""Expected values: algorithm 1 of Abadi et al. 2016 by brute force, one record at a time, with plain SGD."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import torch
from dp_toys import PAD, adapted, brute_force, clipped_sum, examples, flat
from opacus.optimizers import DPOptimizer
from scipy import stats

from leakscape.errors import InputError, IntegrityError
from leakscape.models.adapters import apply_adapters, save_adapter
from leakscape.storage import open_place
from leakscape.training import dp
from leakscape.training.accounting import Schedule, schedule
from leakscape.training.checkpoint import Checkpoints
from leakscape.training.dp import DpRun, DpSettings, train_private
from leakscape.training.dp_lots import Unit, units_of
from leakscape.training.lora import snapshot, trainable
from leakscape.training.objective import record_losses

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leakscape.training.log import Step

PERSONS = ["a", "b", "c", "b", "c", "c", "c", "c"]  # 1, 2 and 5 records


def sgd(weights: list[torch.nn.Parameter], learning_rate: float) -> torch.optim.Optimizer:
    return torch.optim.SGD(weights, lr=learning_rate)


def update(model: Any, units: tuple[Unit, ...], settings: DpSettings, plan: Schedule) -> torch.Tensor:  # noqa: ANN401
    """What plain SGD at rate 1 subtracts from the weights: the private gradient itself."""
    before = flat(list(snapshot(model).values()))
    train_private(model, units, settings, plan, pad_id=PAD, make_optimizer=sgd)
    return before - flat(list(trainable(model).values()))


def draw(monkeypatch: pytest.MonkeyPatch, lots: list[list[int]]) -> None:
    monkeypatch.setattr(dp, "poisson_lots", lambda _plan, *, seed: lots if seed is not None else [])


def relative(found: torch.Tensor, right: torch.Tensor) -> float:
    return float((found - right).norm() / right.norm())


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


def test_without_noise_the_systems_lots_are_clipped_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dp, "poisson_lots", lambda _plan, *, seed: [[0, 2]] if seed is None else [])
    units = units_of(examples(4), "record")
    gradients = brute_force(adapted("llama"), [units[0], units[2]])
    settings = DpSettings(sigma=0, clip=0.5, learning_rate=1.0, noise_from="system")
    found = update(adapted("llama"), units, settings, Schedule(units=4, sample_rate=0.5, steps=1))
    assert relative(found, clipped_sum(gradients, 0.5) / 2) < 1e-5


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


def test_a_control_may_begin_with_an_empty_lot(monkeypatch: pytest.MonkeyPatch) -> None:
    draw(monkeypatch, [[], [0]])
    plan = Schedule(units=3, sample_rate=1 / 3, steps=2)
    done = train_private(adapted(), units_of(examples(3), "record"), DpSettings(sigma=0), plan, pad_id=PAD)
    assert [step.loss is None for step in done.steps] == [True, False]


def run(model: Any, *, seed: int = 1, **more: Any) -> DpRun:  # noqa: ANN401
    units = units_of(examples(12), "record")
    plan = schedule(units=12, lot=4, epochs=2)
    settings = DpSettings(sigma=0.7, learning_rate=1e-2, micro_batch=3, seed=seed)
    return train_private(model, units, settings, plan, pad_id=PAD, **more)


def test_the_same_seed_gives_the_same_bytes() -> None:
    models = [adapted("llama", dropout=0.2) for _ in range(3)]
    runs = [run(model, seed=seed) for model, seed in zip(models, (1, 1, 2), strict=True)]
    one, two, other = (flat(list(trainable(model).values())) for model in models)
    assert runs[0] == runs[1]
    assert torch.equal(one, two)
    assert not torch.equal(one, other)


def test_micro_batches_change_nothing() -> None:
    units = units_of(examples(12), "record")
    plan = schedule(units=12, lot=6, epochs=1)
    found = [
        update(adapted("llama"), units, DpSettings(sigma=0.5, learning_rate=1.0, micro_batch=size), plan)
        for size in (1, 5, 50)
    ]
    assert relative(found[0], found[2]) < 1e-5
    assert relative(found[1], found[2]) < 1e-5


class _KilledError(Exception):
    pass


def kill_at(number: int) -> Callable[[Step], None]:
    def listen(step: Step) -> None:
        if step.step == number:
            raise _KilledError

    return listen


@pytest.mark.parametrize(("every", "killed"), [(1, 3), (2, 3), (4, 1)])
def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path, every: int, killed: int) -> None:
    whole = adapted("llama", dropout=0.2)
    uninterrupted = run(whole)
    checkpoints = Checkpoints(place=open_place(str(tmp_path)), every=every, run="one")
    with pytest.raises(_KilledError):
        run(adapted("llama", dropout=0.2), checkpoints=checkpoints, on_step=kill_at(killed))
    resumed = adapted("llama", dropout=0.2)
    assert run(resumed, checkpoints=checkpoints) == uninterrupted
    assert torch.equal(flat(list(trainable(whole).values())), flat(list(trainable(resumed).values())))


# known fault (opacus #820): loss falls and epsilon grows, but the adapter stays as it was
def test_adapter_moves_and_reloads_to_the_same_loss(tmp_path: Path) -> None:
    import toys

    model = adapted("llama")
    before = flat(list(snapshot(model).values()))
    done = run(model)
    assert len(done.steps) == 6
    assert float((flat(list(trainable(model).values())) - before).norm()) > 0
    save_adapter(model, tmp_path, base="toy")
    reloaded = apply_adapters(toys.toy("llama")[0], [tmp_path])
    ids = torch.tensor([examples(1)[0].ids])
    with torch.no_grad():
        losses = [record_losses(some(input_ids=ids).logits, ids) for some in (model, reloaded)]
    assert torch.equal(*losses)


def test_an_adapter_that_does_not_move_is_an_error() -> None:
    with pytest.raises(IntegrityError, match="No weight of the adapter moved"):
        run(adapted(), make_optimizer=lambda weights, _: torch.optim.SGD(weights, lr=0.0))


def test_an_optimizer_with_other_weights_is_an_error() -> None:
    def strange(weights: list[torch.nn.Parameter], rate: float) -> torch.optim.Optimizer:
        return sgd([torch.nn.Parameter(weight.detach().clone()) for weight in weights], rate)

    with pytest.raises(IntegrityError, match="does not hold the adapter's weights"):
        run(adapted(), make_optimizer=strange)


def test_a_step_that_is_not_taken_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = iter(range(100))
    real = DPOptimizer._check_skip_next_step
    monkeypatch.setattr(
        DPOptimizer, "_check_skip_next_step", lambda self, **more: real(self, **more) or next(steps) == 2
    )
    with pytest.raises(IntegrityError, match="6 steps were planned, 5 accounted and 5 taken"):
        run(adapted())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (DpSettings(sigma=-1), "noise multiplier"),
        (DpSettings(sigma=math.inf), "noise multiplier"),
        (DpSettings(sigma=math.nan), "noise multiplier"),
        (DpSettings(sigma=1, clip=0), "--clip"),
        (DpSettings(sigma=1, clip=math.inf), "--clip"),
        (DpSettings(sigma=0, clip=math.nan), "--clip"),
    ],
)
def test_settings_without_sense_are_refused(settings: DpSettings, words: str) -> None:
    plan = schedule(units=3, lot=3, epochs=1)
    with pytest.raises(InputError, match=words):
        train_private(adapted(), units_of(examples(3), "record"), settings, plan, pad_id=PAD)


def test_a_plan_for_other_data_is_refused() -> None:
    plan = schedule(units=4, lot=2, epochs=1)
    with pytest.raises(IntegrityError, match="4 units"):
        train_private(adapted(), units_of(examples(3), "record"), DpSettings(sigma=1), plan, pad_id=PAD)


def test_divergence_is_named() -> None:
    model = adapted()
    with torch.no_grad():
        next(iter(trainable(model).values())).fill_(math.nan)
    with pytest.raises(InputError, match="diverged"):
        run(model)
