"""DP-SGD on a LoRA adapter (Abadi et al. 2016), with the clipping and noise of Opacus.

A step draws a Poisson lot, clips the gradient of each privacy unit to norm C, adds Gaussian noise of deviation sigma C
to their SUM and divides by the EXPECTED lot, whatever was drawn. An empty lot still adds noise, steps and is accounted.

Noise and lots come from the run's seed, so that a run can be repeated, or from the system's entropy, so that nobody
can take the noise away: docs/dp-sgd.md says which is for what.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from leakscape.errors import InputError, IntegrityError
from leakscape.progress import track
from leakscape.termination import deferred
from leakscape.training.dp_chance import system_normal
from leakscape.training.dp_gradients import hooked, unit_gradients
from leakscape.training.dp_lots import derived_seed, micro_batches, poisson_lots
from leakscape.training.log import Step
from leakscape.training.loop import check_finite, deterministic, own_randomness, stopped
from leakscape.training.lora import check_held, check_moved, snapshot, trainable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from opacus.optimizers import DPOptimizer

    from leakscape.training.accounting import Schedule
    from leakscape.training.checkpoint import Checkpoints
    from leakscape.training.dp_lots import Unit

NoiseFrom = Literal["seed", "system"]

_NO_CLIP = 1e30
"""Stands for infinity in Opacus, whose noise at sigma 0 and infinite C is NaN; no float32 gradient reaches it."""


@dataclass(frozen=True, kw_only=True)
class DpSettings:
    """Paper 000's settings are the defaults.

    Args:
        sigma: noise multiplier; 0 for the control without noise.
        clip: C, the norm that a unit's gradient is clipped to; infinite only at sigma 0.
        learning_rate: constant.
        micro_batch: records that pass through the model together; changes memory and time, not the result.
        seed: of the lots, the noise and dropout.
        noise_from: `seed`, or `system` for lots and noise that nobody can repeat.
    """

    sigma: float
    clip: float = 1.0
    learning_rate: float = 2e-4
    micro_batch: int = 8
    seed: int = 0
    noise_from: NoiseFrom = "seed"


@dataclass(frozen=True, slots=True)
class DpRun:
    """What a run did.

    Args:
        steps: every step; `loss` is the mean over the lot's units, in nats a token, None for an empty lot.
        lots: how many units each step drew.
    """

    steps: list[Step]
    lots: list[int]


def _adamw(weights: list[torch.nn.Parameter], learning_rate: float) -> torch.optim.Optimizer:
    import torch

    return torch.optim.AdamW(weights, lr=learning_rate, weight_decay=0.0)


def _ignore(_step: Step) -> None:
    """The default listener."""


def train_private(
    model: torch.nn.Module,
    units: Sequence[Unit],
    settings: DpSettings,
    plan: Schedule,
    *,
    pad_id: int,
    checkpoints: Checkpoints | None = None,
    make_optimizer: Callable[[list[torch.nn.Parameter], float], torch.optim.Optimizer] = _adamw,
    on_step: Callable[[Step], None] = _ignore,
) -> DpRun:
    """Train what is trainable of a PEFT model, in place, for exactly the steps of the plan.

    Args:
        model: on its device, its adapter on it.
        units: from `units_of`, as many as the plan says.
        settings: see there.
        plan: from `accounting.schedule`; the privacy spent is that of this plan and `settings.sigma`.
        pad_id: fills shorter examples; masked by place.
        checkpoints: save here and go on from the latest state found.
        make_optimizer: from the weights and the learning rate; AdamW.
        on_step: called after each step, once its checkpoint is written.

    Raises:
        InputError: a setting makes no sense, a module has no gradient of a record, the loss is no longer finite, or
            the checkpoints are of another run.
        IntegrityError: the adapter did not move in its first step, or the steps taken are not those accounted.
        TransientError: SIGTERM came; where checkpoints are kept, the step that was under way is in the latest.
    """
    _check(settings, plan, units)
    weights = trainable(model)
    inner = make_optimizer(list(weights.values()), settings.learning_rate)
    check_held(model, inner)
    lots = poisson_lots(plan, seed=settings.seed if settings.noise_from == "seed" else None)
    steps = checkpoints.restore(model, inner) if checkpoints else []
    before = snapshot(model) if not steps else {}
    model.train()
    with deferred() as stop, hooked(model), deterministic(next(iter(weights.values())).device):
        optimizer = _private(inner, settings, plan)
        counts = _Counts(optimizer, done=len(steps))
        for number in track(range(len(steps) + 1, plan.steps + 1), total=plan.steps - len(steps), what="training"):
            lot = [units[index] for index in lots[number - 1]]
            step = _step(model, optimizer, lot, settings, plan, number=number, pad_id=pad_id)
            if before and (lot or settings.sigma):
                check_moved(model, before, optimizer)
                before = {}
            steps.append(step)
            last, stopping = number == plan.steps, stop.asked
            if checkpoints and (number % checkpoints.every == 0 or last or stopping):
                checkpoints.save(model, inner, steps)
            on_step(step)
            if stopping and not last:
                raise stopped(number, checkpoints)
        counts.check(plan.steps)
    model.train(mode=False)
    return DpRun(steps, [step.units or 0 for step in steps])


class _Counts:
    """Counts releases of noise and steps of the optimizer, each where it happens."""

    def __init__(self, optimizer: DPOptimizer, *, done: int) -> None:
        self.accounted = self.taken = done
        optimizer.attach_step_hook(self._account)
        optimizer.original_optimizer.register_step_post_hook(self._take)

    def check(self, planned: int) -> None:
        """Hold both against the plan that the privacy spent was computed from."""
        if not self.accounted == self.taken == planned:
            raise IntegrityError(
                f"{planned} steps were planned, {self.accounted} accounted and {self.taken} taken; "
                "the privacy stated would not be the privacy spent."
            )

    def _account(self, _optimizer: object) -> None:
        self.accounted += 1

    def _take(self, *_details: object) -> None:
        self.taken += 1


def _check(settings: DpSettings, plan: Schedule, units: Sequence[Unit]) -> None:
    if not (math.isfinite(settings.sigma) and settings.sigma >= 0):
        raise InputError(f"The noise multiplier must be finite and not negative, not {settings.sigma:g}.")
    if not settings.clip > 0 or (settings.sigma and not math.isfinite(settings.clip)):
        raise InputError(f"--clip must be positive, and finite where there is noise, not {settings.clip:g}.")
    if len(units) != plan.units or plan.steps < 1:
        raise IntegrityError(
            f"The plan is for {plan.units} units and {plan.steps} steps, but there are {len(units)} units."
        )


def _private(inner: torch.optim.Optimizer, settings: DpSettings, plan: Schedule) -> DPOptimizer:
    """The optimizer of Opacus around ours; each virtual step leaves the denominator at the expected lot."""
    from opacus.optimizers import DPOptimizer

    class FromSystem(DPOptimizer):  # type: ignore[misc]
        """Adds the system's noise where Opacus, told of none, would add its generator's."""

        def add_noise(self) -> None:
            super().add_noise()
            for weight in self.params:
                weight.grad += system_normal(weight.grad, settings.sigma * self.max_grad_norm)

    own = settings.noise_from == "system" and settings.sigma > 0
    return (FromSystem if own else DPOptimizer)(
        inner,
        noise_multiplier=0.0 if own else settings.sigma,
        max_grad_norm=min(settings.clip, _NO_CLIP),
        expected_batch_size=plan.expected_lot,
        loss_reduction="mean",
    )


def _step(
    model: torch.nn.Module,
    optimizer: Any,  # noqa: ANN401  # DPOptimizer types its expected lot as an integer
    lot: Sequence[Unit],
    settings: DpSettings,
    plan: Schedule,
    *,
    number: int,
    pad_id: int,
) -> Step:
    """Clip and add up the lot piece by piece, then add the noise once and step."""
    device = next(model.parameters()).device
    optimizer.generator = _generator(device, settings.seed, number)
    losses: list[float] = []
    tokens = 0
    # Units of like length pass together: their order within a lot changes nothing but the padding.
    ordered = sorted(lot, key=lambda unit: max(len(example.ids) for example in unit))
    batches = list(micro_batches(ordered, settings.micro_batch)) or [[]]
    with own_randomness(settings.seed, number):
        for place, batch in enumerate(batches, start=1):
            some, count = unit_gradients(model, batch, micro_batch=settings.micro_batch, pad_id=pad_id)
            optimizer.signal_skip_step(do_skip=place < len(batches))
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses += some
            tokens += count
    loss = math.fsum(losses) / len(losses) if losses else None
    check_finite(number, loss or 0.0, 0.0)
    return Step(
        step=number,
        epoch=math.floor((number - 1) * plan.sample_rate) + 1,
        loss=loss,
        tokens=tokens,
        learning_rate=settings.learning_rate,
        units=len(lot),
    )


def _generator(device: torch.device, seed: int, number: int) -> torch.Generator:
    """The noise of a step, from a stream of its own on the device where it is drawn."""
    import torch

    return torch.Generator(device=device).manual_seed(derived_seed("noise", seed, number))
