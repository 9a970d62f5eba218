"""The gradient of each privacy unit, by the hooks of Opacus.

Hooks and not ghost clipping: for LoRA the per-record gradients are small, ghost clipping passes twice through the
model, and in bfloat16 and on Qwen3.5 it misses the clipped sum by 4e-4 to 1e-2, where hooks are right to 1e-6.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, cast

from leakscape.errors import InputError
from leakscape.training.dataset import collate
from leakscape.training.lora import trainable
from leakscape.training.objective import record_losses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

    from leakscape.training.dataset import Example
    from leakscape.training.dp_lots import Unit


@contextlib.contextmanager
def hooked(model: Any) -> Iterator[None]:  # noqa: ANN401  # a PEFT model
    """Have every backward pass leave `grad_sample`, (records, *shape), on the trainable parameters."""
    from opacus.grad_sample import GradSampleHooks

    # Hooks of the first layer fire with a gradient only where its input takes part in the graph.
    model.enable_input_require_grads()
    # The losses of the records are summed, so their gradients need no rescaling by the size of the batch.
    hooks = GradSampleHooks(model, loss_reduction="sum")
    try:
        yield
    finally:
        hooks.cleanup()
        model.disable_input_require_grads()


def unit_gradients(
    model: torch.nn.Module, units: Sequence[Unit], *, micro_batch: int, pad_id: int
) -> tuple[list[float], int]:
    """Leave the gradient of each unit's loss in `grad_sample`, (units, *shape); the model must be `hooked`.

    The loss of a record is the mean over its tokens, that of a unit the mean over its records. A unit with more than
    `micro_batch` records passes in pieces that add up before anything is clipped. No unit gives shape (0, *shape).

    Returns:
        The loss of each unit in nats a token, and how many tokens took part.

    Raises:
        InputError: an adapted module does not see one row a record, so it has no gradient of a record.
    """
    weights = trainable(model)
    examples = [example for unit in units for example in unit]
    owners = [number for number, unit in enumerate(units) for _ in unit]
    losses = [0.0] * len(units)
    sums = {name: weight.new_zeros((len(units), *weight.shape)) for name, weight in weights.items()}
    for start in range(0, len(examples), micro_batch):
        whose = owners[start : start + micro_batch]
        batch = examples[start : start + micro_batch]
        shares = [1 / len(units[owner]) for owner in whose]
        for owner, loss in zip(whose, _backward(model, batch, shares, pad_id), strict=True):
            losses[owner] += loss
        for name, weight in weights.items():
            sums[name].index_add_(0, _index(whose, weight), _taken(name, weight, len(batch)))
    for name, weight in weights.items():
        cast("Any", weight).grad_sample = sums[name]
    return losses, sum(example.targets for example in examples)


def _backward(model: torch.nn.Module, batch: Sequence[Example], shares: Sequence[float], pad_id: int) -> list[float]:
    """One pass; returns the loss of each record times its share in its unit."""
    import torch

    rows = collate(batch, pad_id=pad_id, device=str(next(model.parameters()).device))
    labels = rows.pop("labels")
    losses = record_losses(model(**rows, use_cache=False).logits, labels)
    shared = losses * torch.tensor(shares, dtype=losses.dtype, device=losses.device)
    shared.sum().backward()  # type: ignore[no-untyped-call]
    return cast("list[float]", shared.detach().tolist())


def _taken(name: str, weight: Any, records: int) -> torch.Tensor:  # noqa: ANN401  # Opacus adds attributes
    """Take the per-record gradients off a parameter, or say why there are none."""
    taken, weight.grad_sample = weight.grad_sample, None
    module = name.rpartition(".lora_")[0].rpartition(".")[2] or name
    if taken is None:
        raise InputError(
            f"{module} takes no part in the loss, so it can't be trained; leave it out of --target-modules."
        )
    if isinstance(taken, list) or len(taken) != records:
        raise InputError(
            f"{module} mixes the tokens of several records, so there is no gradient of one record to clip; "
            "leave it out of --target-modules."
        )
    return cast("torch.Tensor", taken)


def _index(whose: Sequence[int], weight: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.tensor(whose, dtype=torch.int64, device=weight.device)
