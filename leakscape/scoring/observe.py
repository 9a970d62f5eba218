"""What membership attacks see: each token's log-probability and where it stands among the vocabulary's."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leakscape.errors import LeakscapeError
from leakscape.progress import track
from leakscape.scoring.engine import batches, forward, needed, pad, scoring, vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from transformers import PreTrainedModel

    from leakscape.scoring.engine import Window
    from leakscape.scoring.spans import Item

_CELLS = 1 << 24  # logits turned into float32 probabilities at once


@dataclass(frozen=True, slots=True)
class Moments:
    """Each scored token's log-probability, and mean and standard deviation of all tokens' at its place, in nats."""

    log_likelihoods: tuple[float, ...]
    expected: tuple[float, ...]
    deviation: tuple[float, ...]


def observe(
    model: PreTrainedModel, items: Sequence[Item], *, batch_size: int, what: str = "observing"
) -> list[Moments]:
    """Read the moments of every item's target tokens.

    Args:
        model: a causal language model, with or without adapters.
        items: from `leakscape.scoring.spans.item`.
        batch_size: texts in one forward pass, at most.
        what: named in the progress line.

    Returns:
        One an item, in their order; the same for every batch size to 1e-4 in float32.

    Raises:
        InputError: the device's memory is too small for the batch size.
        LeakscapeError: the model gives no finite probability, with the item's id.
    """
    windows = [(item.ids, item.first, item.end) for item in items]
    found: dict[Window, Moments] = {}
    planned = list(batches(sorted(set(windows)), batch_size, vocabulary(model)))
    with scoring(model):
        for batch in track(planned, total=len(planned), what=what):
            found.update(zip(batch, _observe_batch(model, batch), strict=True))
    return [_finite(item, found[window]) for item, window in zip(items, windows, strict=True)]


@contextlib.contextmanager
def adapter_off(model: PreTrainedModel) -> Iterator[bool]:
    """Score as if the last adapter were not there.

    Yields:
        Whether there is one; without it the model is as it was before, and no reference to itself.
    """
    disable: Any = getattr(model, "disable_adapter", None)
    if disable is None or not hasattr(model, "peft_config"):
        yield False
        return
    with disable():
        yield True


def moments(logits: torch.Tensor, targets: torch.Tensor) -> Moments:
    """Moments under logits (P, V) of the targets, (P,): in float32, a slice at a time."""
    import torch

    rows = max(1, _CELLS // logits.shape[-1])
    columns: list[list[float]] = [[], [], []]
    for part, target in zip(torch.split(logits, rows), torch.split(targets, rows), strict=True):
        logs = torch.log_softmax(part.float(), dim=-1)
        chances = logs.exp()
        mean = _weighted(chances, logs)
        variance = _weighted(chances, (logs - mean.unsqueeze(-1)) ** 2)
        for column, values in zip(
            columns, (logs.gather(-1, target.unsqueeze(-1)).squeeze(-1), mean, variance.sqrt()), strict=True
        ):
            column += [float(value) for value in values.double().cpu()]
    return Moments(*(tuple(column) for column in columns))


def _weighted(chances: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Mean over the vocabulary; what has no chance adds nothing, whatever its log."""
    return (chances * values.where(chances > 0, values.new_zeros(()))).sum(dim=-1)


def _observe_batch(model: PreTrainedModel, batch: Sequence[Window]) -> Iterator[Moments]:
    import torch

    ids, mask = pad([ids for ids, _, _ in batch], model.device)
    low, high = needed(batch)
    wanted = torch.arange(low, high, device=model.device)
    logits = forward(model, wanted, input_ids=ids, attention_mask=mask, use_cache=False).logits
    for row, (_, first, end) in enumerate(batch):
        yield moments(logits[row, first - 1 - low : end - 1 - low], ids[row, first:end])


def _finite(item: Item, found: Moments) -> Moments:
    if not all(math.isfinite(value) for value in (*found.log_likelihoods, *found.expected, *found.deviation)):
        raise LeakscapeError(
            f"{item.id}: the model gives no finite probability for a token; its weights or its precision are at fault: "
            "try float32."
        )
    return found
