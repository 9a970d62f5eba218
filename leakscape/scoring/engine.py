"""Log-likelihoods of tokens, in batches.

`logits[t - 1]` scores token t. Texts are padded on the right, so positions need no care; log_softmax runs in float32,
since bfloat16 moves in steps of an eighth of a nat and makes ties (huggingface/transformers#31267). Logits are made
only at the positions that are scored, and only as many at once as `LOGITS` allows.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leakscape.errors import InputError, LeakscapeError
from leakscape.progress import track

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from transformers import PreTrainedModel

    from leakscape.scoring.spans import Item

LOGITS = 1 << 28
"""The most logits of one forward pass (one GiB in float32): longer batches are split."""
_ROWS = 1 << 24  # logits turned into float32 at once

Window = tuple[tuple[int, ...], int, int]
"""A text's ids, and the first and the end of what is scored of them."""


@dataclass(frozen=True, slots=True)
class Score:
    """The natural log-probability of each scored token, given all tokens before it."""

    token_log_likelihoods: tuple[float, ...]

    @property
    def tokens(self) -> int:
        """How many tokens were scored."""
        return len(self.token_log_likelihoods)

    @property
    def log_likelihood(self) -> float:
        """Their sum, in nats: the log of the chance that one sample repeats the target."""
        return math.fsum(self.token_log_likelihoods)


def score(model: PreTrainedModel, items: Sequence[Item], *, batch_size: int, what: str = "scoring") -> list[Score]:
    """Score the items' targets.

    Items with equal tokens go through the model once (a record and its last medication, for example).

    Args:
        model: a causal language model, with or without adapters.
        items: from `leakscape.scoring.spans.item`.
        batch_size: texts in one forward pass, at most.
        what: named in the progress line.

    Returns:
        One score an item, in their order; the same for every batch size to 1e-4 in float32.

    Raises:
        InputError: the device's memory is too small for the batch size.
        LeakscapeError: the model gives no finite probability, with the item's id.
    """
    wanted: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        wanted[item.ids].append(number)
    windows = [
        (ids, min(items[number].first for number in numbers), max(items[number].end for number in numbers))
        for ids, numbers in wanted.items()
    ]
    scores: dict[int, Score] = {}
    planned = list(batches(windows, batch_size, vocabulary(model)))
    with scoring(model):
        for batch in track(planned, total=len(planned), what=what):
            for (ids, start, _), values in zip(batch, _score_batch(model, batch), strict=True):
                for number in wanted[ids]:
                    item = items[number]
                    scores[number] = checked(item, values[item.first - start : item.end - start])
    return [scores[number] for number in range(len(items))]


def checked(item: Item, values: Sequence[float]) -> Score:
    """A score of finite figures, one a scored token.

    Raises:
        LeakscapeError: a figure is missing, or is no number.
    """
    if len(values) != item.tokens or not all(math.isfinite(value) for value in values):
        raise LeakscapeError(
            f"{item.id}: the model gives no finite probability for a token; its weights or its precision are at fault: "
            "try float32."
        )
    return Score(tuple(values))


@contextlib.contextmanager
def scoring(model: PreTrainedModel) -> Iterator[None]:
    """Without gradients and without dropout; the model's mode comes back afterwards.

    Raises:
        InputError: the device's memory is too small.
    """
    import torch

    training = model.training
    model.train(mode=False)
    try:
        with torch.inference_mode():
            yield
    except torch.OutOfMemoryError:
        raise InputError(
            "The device's memory is too small for this many texts at once; lower the batch size."
        ) from None
    finally:
        model.train(training)


def forward(model: PreTrainedModel, positions: torch.Tensor, **inputs: Any) -> Any:  # noqa: ANN401
    """One forward pass with logits at `positions` alone, (B, P, V), whether or not the model can leave out the others.

    Args:
        model: a causal language model.
        positions: (P,), indices into the texts of `inputs`.
        inputs: for the model.
    """
    if "logits_to_keep" in parameters(model):
        return model(**inputs, logits_to_keep=positions)
    outputs = model(**inputs)
    outputs.logits = outputs.logits[:, positions]
    return outputs


def gather(logits: torch.Tensor, targets: torch.Tensor) -> list[float]:
    """The log-probability of each target, (P,), under logits (P, V): log_softmax in float32, a slice at a time."""
    import torch

    rows = max(1, _ROWS // logits.shape[-1])
    pieces = [
        torch.log_softmax(part.float(), dim=-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
        for part, target in zip(torch.split(logits, rows), torch.split(targets, rows), strict=True)
    ]
    return [float(value) for value in torch.cat(pieces).double().cpu()]


def pad(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids padded on the right, (B, T), and their attention mask, (B, T).

    What stands under the padding has no effect: nothing that is scored comes after it.
    """
    import torch

    length = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[0] * (length - len(row))] for row in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows], device=device)
    return ids, mask


def parameters(model: PreTrainedModel) -> set[str]:
    """The names that the model's forward pass takes; adapters wrap it and pass on what they are given."""
    base: Any = getattr(model, "get_base_model", lambda: model)()
    return set(inspect.signature(base.forward).parameters)


def cache_name(model: PreTrainedModel) -> str:
    """What the model calls its cache; a model that brings its own code may still use the older name."""
    return "cache" if "cache" in parameters(model) else "past_key_values"


def _score_batch(model: PreTrainedModel, batch: Sequence[Window]) -> Iterator[list[float]]:
    import torch

    ids, mask = pad([ids for ids, _, _ in batch], model.device)
    low, high = needed(batch)
    positions = torch.arange(low, high, device=model.device)
    logits = forward(model, positions, input_ids=ids, attention_mask=mask, use_cache=False).logits
    for row, (_, first, end) in enumerate(batch):
        yield gather(logits[row, first - 1 - low : end - 1 - low], ids[row, first:end])


def needed(batch: Sequence[Window]) -> tuple[int, int]:
    """The positions whose logits the batch needs, one before each scored token."""
    return min(first for _, first, _ in batch) - 1, max(end for _, _, end in batch) - 1


def batches(windows: Sequence[Window], batch_size: int, vocabulary: int) -> Iterator[list[Window]]:
    """Batches of like length, the longest first, so that memory that is too small shows at once."""
    batch: list[Window] = []
    for window in sorted(windows, key=lambda window: (-len(window[0]), -window[1], window[0])):
        grown = [*batch, window]
        low, high = needed(grown)
        if batch and (len(grown) > batch_size or len(grown) * (high - low) * vocabulary > LOGITS):
            yield batch
            grown = [window]
        batch = grown
    if batch:
        yield batch


def vocabulary(model: PreTrainedModel) -> int:
    """How many logits the model gives at a position."""
    config: Any = model.config
    return int(config.get_text_config().vocab_size)
