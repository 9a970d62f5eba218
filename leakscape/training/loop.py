"""The training loop: AdamW at a constant rate over a fixed order of examples.

On the CPU two runs of the same settings give the same bytes, and so does a run that was killed and resumed: every
step draws its randomness (dropout) from its own seed, and nothing else is random.

Several processes may share a run (`leakscape.training.world`): each passes its pieces of every effective batch, and
all take the same step. Without dropout they follow one process alone to the rounding of their sums.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leakscape.errors import InputError, IntegrityError, TransientError
from leakscape.progress import track
from leakscape.termination import deferred
from leakscape.training.dataset import collate, fixed_order
from leakscape.training.log import Step
from leakscape.training.lora import check_moved, snapshot, trainable
from leakscape.training.objective import batch_loss
from leakscape.training.world import ALONE, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import torch

    from leakscape.training.checkpoint import Checkpoints
    from leakscape.training.dataset import Example


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """Paper 000's settings are the defaults.

    Args:
        learning_rate: constant.
        batch_size: examples that pass through the model together.
        accumulation: such batches a step and process.
        epochs: passes over the examples.
        max_gradient_norm: gradients are clipped to this norm; 0 for no clipping.
        seed: of the order and of dropout.
        world_size: processes that share a step; the effective batch is the product of all three.
    """

    learning_rate: float = 2e-4
    batch_size: int = 4
    accumulation: int = 1
    epochs: int = 2
    max_gradient_norm: float = 1.0
    seed: int = 0
    world_size: int = 1

    @property
    def effective_batch(self) -> int:
        """Examples a step."""
        return self.batch_size * self.accumulation * self.world_size


def _ignore(_step: Step) -> None:
    """The default listener."""


def train(
    model: torch.nn.Module,
    examples: Sequence[Example],
    settings: LoopSettings,
    *,
    pad_id: int,
    checkpoints: Checkpoints | None = None,
    world: World = ALONE,
    on_step: Callable[[Step], None] = _ignore,
) -> list[Step]:
    """Train what is trainable of a model, in place.

    Args:
        model: on its device, its adapter on it.
        examples: at least one.
        settings: see there.
        pad_id: fills shorter examples; masked by place.
        checkpoints: save here and go on from the latest state found.
        world: the processes that share the run; they have joined, with the same model, examples and settings.
        on_step: called after each step, once its checkpoint is written.

    Returns:
        Every step, those before a resumption included.

    Raises:
        InputError: the loss is no longer finite, or the checkpoints are of another run.
        IntegrityError: the adapter did not move in its first step, or the processes' adapters differ in the end.
        PeerLost: another process has ended.
        TransientError: SIGTERM came; where checkpoints are kept, the step that was under way is in the latest.
    """
    import torch

    if settings.world_size != world.size:
        raise IntegrityError(f"The settings are for {settings.world_size} processes, but {world.size} train.")
    weights = list(trainable(model).values())
    optimizer = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=0.0)
    steps = checkpoints.restore(model, optimizer) if checkpoints else []
    before = snapshot(model) if not steps else {}
    lots = _lots(len(examples), settings)
    model.train()
    with deferred() as stop, deterministic(weights[0].device):
        for epoch, lot in track(lots[len(steps) :], total=len(lots) - len(steps), what="training"):
            number = len(steps) + 1
            lot_examples = [examples[index] for index in lot]
            with own_randomness(settings.seed, number, rank=world.rank):
                loss, targets = _backward(model, lot_examples, settings, pad_id, world)
            world.add_gradients(weights)
            norm = _update(optimizer, weights, settings) if targets else 0.0
            if targets and before:
                check_moved(model, before, optimizer)
                before = {}
            check_finite(number, loss, norm)
            step = Step(
                step=number,
                epoch=epoch,
                loss=loss if targets else None,
                tokens=targets,
                learning_rate=settings.learning_rate,
                gradient_norm=norm,
            )
            steps.append(step)
            last = number == len(lots)
            stopping = world.any(stop.asked)
            if checkpoints and world.writes and (number % checkpoints.every == 0 or last or stopping):
                checkpoints.save(model, optimizer, steps)
            on_step(step)
            if stopping and not last:
                raise stopped(number, checkpoints)
    model.train(mode=False)
    world.check_same(weights)
    return steps


def stopped(number: int, checkpoints: Checkpoints | None) -> TransientError:
    """What a run ends with that SIGTERM stopped after step `number`."""
    if checkpoints is None:
        return TransientError(
            f"stopped by SIGTERM after step {number}; without --checkpoint-dir the next run begins anew."
        )
    return TransientError(f"stopped by SIGTERM after step {number}; the next run goes on from {checkpoints.place}.")


def enable_gradient_checkpointing(model: Any, *, reentrant: bool = False) -> None:  # noqa: ANN401  # a PEFT model
    """Compute activations again in the backward pass, which saves most of their memory.

    Args:
        model: a PEFT model.
        reentrant: the form that the hooks of Opacus need; the other one gives them no gradient of a record.
    """
    model.activation_checkpointing_enable(activation_checkpointing_kwargs={"use_reentrant": reentrant})
    model.enable_input_require_grads()


def _lots(count: int, settings: LoopSettings) -> list[tuple[int, list[int]]]:
    """The epoch and the examples of each step; the last step of an epoch may be smaller."""
    order = fixed_order(count, seed=settings.seed)
    size = settings.effective_batch
    return [
        (epoch, order[start : start + size])
        for epoch in range(1, settings.epochs + 1)
        for start in range(0, count, size)
    ]


def _backward(
    model: torch.nn.Module, examples: Sequence[Example], settings: LoopSettings, pad_id: int, world: World
) -> tuple[float, int]:
    """Add up this process's part of the gradient of the effective batch's mean loss.

    Examples of like length pass together: their order within a step changes nothing but the padding.

    Returns:
        The loss and the number of targets, of the whole effective batch.
    """
    examples = sorted(examples, key=lambda example: len(example.ids))
    targets = sum(example.targets for example in examples)
    if not targets:
        return 0.0, 0
    pieces = [examples[start : start + settings.batch_size] for start in range(0, len(examples), settings.batch_size)]
    device = str(next(iter(trainable(model).values())).device)
    total = 0.0
    for piece in world.share(pieces):
        batch = collate(piece or examples[:1], pad_id=pad_id, device=device)
        labels = batch.pop("labels")
        loss = batch_loss(model(**batch, use_cache=False).logits, labels, targets=targets)
        # A process without a piece passes one for nothing: layers that are shared out are gathered by all together.
        loss = loss if piece else loss * 0
        loss.backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    return world.add_up(total), targets


def _update(optimizer: torch.optim.Optimizer, weights: Sequence[torch.Tensor], settings: LoopSettings) -> float:
    """One step of the optimizer; returns the gradient's norm before clipping."""
    import torch

    limit = settings.max_gradient_norm or math.inf
    norm = float(torch.nn.utils.clip_grad_norm_(weights, limit))
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return norm


def check_finite(number: int, loss: float, norm: float) -> None:
    """Stop a run that has diverged.

    Raises:
        InputError: the loss or the norm of step `number` is not finite.
    """
    if not (math.isfinite(loss) and math.isfinite(norm)):
        raise InputError(f"Training diverged: the loss of step {number} is not finite; lower --learning-rate.")


@contextlib.contextmanager
def own_randomness(seed: int, number: int, *, rank: int = 0) -> Iterator[None]:
    """Seed a step's dropout by its number, so that a resumed run draws what the uninterrupted one drew.

    Each process has a seed of its own, so that no two examples of a step share their dropout.
    """
    import torch

    digest = hashlib.sha256(f"leakscape/step/{seed}/{number}{f'/{rank}' if rank else ''}".encode()).digest()
    with torch.random.fork_rng():
        torch.manual_seed(int.from_bytes(digest[:8], "little") >> 1)
        yield


@contextlib.contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """Refuse operations without a deterministic form, on the CPU; CUDA's would need its environment set before."""
    import torch

    memory: Any = torch.utils.deterministic
    was = torch.are_deterministic_algorithms_enabled()
    filled = memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(was or device.type == "cpu")
    memory.fill_uninitialized_memory = False  # a help for debugging that costs a tenth of the time
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(was)
        memory.fill_uninitialized_memory = filled
