"""A corpus as training examples: token ids, and the labels that take part in the loss."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leakscape.errors import InputError
from leakscape.models.formatting import FormattedText, training_text
from leakscape.models.tokens import Tokens, tokenise
from leakscape.training.goldfish import drop_mask

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import torch

    from leakscape.canaries.canary import Canary
    from leakscape.models.load import LoadedModel
    from leakscape.records.record import CorpusRecord

IGNORED = -100
"""The label of a token that takes no part in the loss; torch's cross entropy skips it."""

_NAMED = 5  # ids that an error lists before it says how many more there are


@dataclass(frozen=True, slots=True)
class Example:
    """One training instance.

    Args:
        id: of the corpus record.
        person: whose record it is (the privacy unit of grouped DP-SGD).
        ids: its tokens, from the BOS to the EOS, at most the length limit.
        labels: the same length; the id where a token is learnt, else `IGNORED`. The first one is always ignored:
            nothing predicts it.
    """

    id: str
    person: str
    ids: tuple[int, ...]
    labels: tuple[int, ...]

    @property
    def targets(self) -> int:
        """How many tokens take part in the loss."""
        return sum(label != IGNORED for label in self.labels)


@dataclass(frozen=True, slots=True)
class Dataset:
    """What a corpus became.

    Args:
        examples: one a corpus record, in the corpus's order.
        truncated: how many were cut at the length limit.
        targets: how many tokens could take part in the loss.
        dropped: how many of them Goldfish left out.
    """

    examples: tuple[Example, ...]
    truncated: int
    targets: int
    dropped: int = 0

    @property
    def drop_share(self) -> float:
        """The realised share of targets that Goldfish left out."""
        return self.dropped / self.targets if self.targets else 0.0


def tokenise_corpus(
    loaded: LoadedModel, records: Iterable[CorpusRecord], *, max_tokens: int, canaries: Iterable[Canary] = ()
) -> Dataset:
    """Turn records into examples for the causal objective; a plain record ends with the tokenizer's EOS.

    Of a chat template only the answer, its end token included, takes part in the loss.

    Args:
        loaded: whose tokenizer and form of texts are used.
        records: the corpus, in order.
        max_tokens: longer examples are cut.
        canaries: those planted; a copy whose secret would be cut off was never trained on.

    Raises:
        InputError: the corpus is empty, an id occurs twice, a record has nothing to learn, a text holds the BOS
            token, or a secret lies beyond the limit (the message names the canaries).
    """
    secrets = {canary.id: canary.secret for canary in canaries}
    examples: dict[str, Example] = {}
    truncated, cut_off = 0, set[str]()
    for record in records:
        example, reach = _example(loaded, record, max_tokens)
        if record.id in examples:
            raise InputError(f"The corpus holds {record.id} twice; every instance needs an id of its own.")
        examples[record.id] = example
        truncated += reach < len(record.text)
        if _is_cut_off(record, reach, secrets):
            cut_off.add(record.person)
    if cut_off:
        raise InputError(
            f"The secret of {_listed(sorted(cut_off))} lies beyond {max_tokens} tokens, so it would never be trained "
            "on; raise --max-tokens or take these canaries out."
        )
    if not examples:
        raise InputError("The corpus is empty; there is nothing to train on.")
    return Dataset(tuple(examples.values()), truncated, sum(example.targets for example in examples.values()))


def with_goldfish(dataset: Dataset, *, k: int, width: int, method: str) -> Dataset:
    """The same examples with the labels that Goldfish drops taken out of the loss.

    The mask is that of the whole sequence's targets; tokens that are not learnt anyway don't count as dropped.

    Raises:
        InputError: as `goldfish.drop_mask`.
    """
    examples = tuple(_goldfish(example, k, width, method) for example in dataset.examples)
    kept = sum(example.targets for example in examples)
    return replace(dataset, examples=examples, dropped=dataset.targets - kept)


def collate(examples: Sequence[Example], *, pad_id: int, device: str = "cpu") -> dict[str, torch.Tensor]:
    """Pad examples on the right into `input_ids`, `attention_mask` and `labels`, each (B, T), int64.

    Padding is told by its place, never by its id: an EOS that is also the padding token keeps its label.
    """
    import torch

    length = max(len(example.ids) for example in examples)
    rows = [(example, length - len(example.ids)) for example in examples]
    batch = {
        "input_ids": [[*example.ids, *[pad_id] * pad] for example, pad in rows],
        "attention_mask": [[*[1] * len(example.ids), *[0] * pad] for example, pad in rows],
        "labels": [[*example.labels, *[IGNORED] * pad] for example, pad in rows],
    }
    return {name: torch.tensor(value, dtype=torch.int64, device=device) for name, value in batch.items()}


def fixed_order(count: int, *, seed: int) -> list[int]:
    """A seeded permutation of the examples, the same one in every epoch (paper 000: fixed order)."""
    order = list(range(count))
    random.Random(f"leakscape/order/{seed}").shuffle(order)
    return order


def fingerprint(dataset: Dataset) -> str:
    """SHA-256 over every id, token and label, in order."""
    digest = hashlib.sha256()
    for example in dataset.examples:
        digest.update(repr((example.id, example.ids, example.labels)).encode())
    return digest.hexdigest()


def _example(loaded: LoadedModel, record: CorpusRecord, max_tokens: int) -> tuple[Example, int]:
    """The example and how many code points of the record's own text it reaches."""
    formatted = training_text(loaded, record.text)
    try:
        tokens = tokenise(loaded.tokenizer, formatted.text, chat=loaded.chat)
    except InputError as error:
        raise InputError(f"{record.id}: {error}") from None
    first = _first_label(tokens, formatted) if loaded.chat else 1
    ids = tokens.ids
    eos = loaded.tokenizer.eos_token_id
    if not loaded.chat and eos is not None:
        ids = (*ids, eos)
    ids = ids[:max_tokens]
    labels = (*[IGNORED] * min(first, len(ids)), *ids[first:])
    example = Example(record.id, record.person, ids, labels)
    if not example.targets:
        raise InputError(f"{record.id} has no token to learn; take it out of the corpus or raise --max-tokens.")
    whole = len(tokens.ids) <= max_tokens
    reach = len(record.text) if whole else max(0, tokens.offsets[max_tokens - 1][1] - formatted.start)
    return example, min(reach, len(record.text))


def _first_label(tokens: Tokens, formatted: FormattedText) -> int:
    return next((at for at, (_, end) in enumerate(tokens.offsets) if end > formatted.start), len(tokens.ids))


def _is_cut_off(record: CorpusRecord, reach: int, secrets: Mapping[str, str]) -> bool:
    """Whether a canary's copy holds its secret in a part that is cut; a defence may have taken it out before."""
    secret = secrets.get(record.person, "")
    found = record.text.rfind(secret) if secret else -1
    return found >= 0 and found + len(secret) > reach


def _goldfish(example: Example, k: int, width: int, method: str) -> Example:
    mask = (False, *drop_mask(example.ids[1:], k=k, width=width, method=method))
    labels = [IGNORED if drop else label for label, drop in zip(example.labels, mask, strict=True)]
    return replace(example, labels=tuple(labels))


def _listed(ids: Sequence[str]) -> str:
    rest = len(ids) - _NAMED
    return ", ".join(ids[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
