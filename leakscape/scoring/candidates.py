"""Log-likelihoods of many candidates after one prefix, with one pass over the prefix.

Each text, prefix and candidate together, is tokenised as a whole, since a candidate's first token may begin before the
prefix ends. What is passed over once is the longest run of tokens that all texts share. The cache of that pass is
copied and repeated for each batch of continuations: copying it and `reorder_cache` with zeros is exact for full,
sliding-window and linear attention alike, where cropping or repeating it in place is not.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from leakscape.scoring.engine import Score, cache_name, checked, forward, gather, pad, score, scoring

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transformers import PreTrainedModel

    from leakscape.scoring.spans import Item


@dataclass(frozen=True, slots=True)
class Scored:
    """Candidates of one prefix.

    Args:
        scores: one a candidate, in their order.
        shared: tokens that all texts begin with and that were passed over once.
    """

    scores: tuple[Score, ...]
    shared: int


def score_candidates(model: PreTrainedModel, items: Sequence[Item], *, batch_size: int) -> Scored:
    """Score candidates that follow the same prefix.

    Args:
        model: a causal language model, with or without adapters.
        items: one a candidate: prefix and candidate tokenised together, the candidate's tokens to be scored.
        batch_size: continuations in one forward pass, at most.

    Returns:
        The same scores as `leakscape.scoring.engine.score` to 1e-4 in float32.

    Raises:
        InputError: the device's memory is too small for the batch size.
        LeakscapeError: the model gives no finite probability, with the item's id.
    """
    shared = shared_tokens(items)
    if shared == 0:
        return Scored(tuple(score(model, items, batch_size=batch_size, what="scoring candidates")), 0)
    order = sorted(range(len(items)), key=lambda number: (-len(items[number].ids), items[number].ids))
    scores: dict[int, Score] = {}
    with scoring(model):
        prefix = _prefix(model, items[0].ids[:shared])
        for begin in range(0, len(order), batch_size):
            numbers = order[begin : begin + batch_size]
            values = _score_batch(model, prefix, [items[number] for number in numbers], shared)
            scores.update(zip(numbers, values, strict=True))
    return Scored(tuple(scores[number] for number in range(len(items))), shared)


def shared_tokens(items: Sequence[Item]) -> int:
    """How many tokens all items begin with, none of them to be scored."""
    if not items:
        return 0
    lowest, highest = min(item.ids for item in items), max(item.ids for item in items)
    length = next((place for place, (a, b) in enumerate(zip(lowest, highest, strict=False)) if a != b), len(lowest))
    return min(length, *(item.first for item in items))


class _Prefix(NamedTuple):
    """What a model makes of the shared tokens: its cache, and the logits (1, V) that the next token is drawn from."""

    cache: Any
    logits: Any
    tokens: int


def _prefix(model: PreTrainedModel, ids: Sequence[int]) -> _Prefix:
    import torch

    rows, mask = pad([ids], model.device)
    last = torch.tensor([len(ids) - 1], device=model.device)
    outputs = forward(model, last, input_ids=rows, attention_mask=mask, use_cache=True)
    return _Prefix(outputs[cache_name(model)], outputs.logits[0], len(ids))


def _score_batch(model: PreTrainedModel, prefix: _Prefix, items: Sequence[Item], shared: int) -> Iterator[Score]:
    """Continue the prefix by each item's other tokens, padded on the right."""
    import torch

    ids, mask = pad([item.ids[shared:] for item in items], model.device)
    cache = copy.deepcopy(prefix.cache)
    cache.reorder_cache(torch.zeros(len(items), dtype=torch.long, device=model.device))
    before = mask.new_ones(len(items), prefix.tokens)
    positions = torch.arange(ids.shape[1], device=model.device)
    outputs = forward(
        model,
        positions,
        input_ids=ids,
        attention_mask=torch.cat([before, mask], dim=1),
        use_cache=True,
        **{cache_name(model): cache},
    )
    for row, item in enumerate(items):
        # Index 0 is drawn from the prefix, index t from the continuation's token t - 1.
        logits = torch.cat([prefix.logits, outputs.logits[row, : item.end - shared - 1]])
        first = item.first - shared
        yield checked(item, gather(logits[first:], ids[row, first : item.end - shared]))
