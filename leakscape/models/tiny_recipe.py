"""How `leakscape/tiny` is made: a Llama of about a million parameters, pretrained from scratch in minutes.

`make tiny-base` runs this and writes the folder beside this file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from leakscape.models.tiny_texts import SEED, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase  # noqa: TC004  # heavy

BOS, EOS, PAD = "<s>", "</s>", "<pad>"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides the bytes, besides the texts and the library versions."""

    seed: int = SEED
    vocabulary: int = 1536
    tokenizer_texts: int = 3000
    hidden: int = 128
    layers: int = 4
    feed_forward: int = 384
    heads: int = 4
    key_value_heads: int = 2
    context: int = 1024
    steps: int = 500
    batch_size: int = 16
    learning_rate: float = 3e-3
    warm_up: int = 25
    weight_decay: float = 0.1
    gradient_norm: float = 1.0
    threads: int = 2


@dataclass(frozen=True, kw_only=True)
class Made:
    """The model, its tokenizer, and the loss of every step in nats a token."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    losses: tuple[float, ...]


def make(recipe: Recipe, *, on_step: Callable[[int, float], None] = lambda _step, _loss: None) -> Made:
    """Train the tokenizer, then the model.

    Args:
        recipe: the same one gives the same bytes on the same machine.
        on_step: told each step's number and loss.
    """
    import torch

    torch.set_num_threads(recipe.threads)
    tokenizer = make_tokenizer(islice(texts(recipe.tokenizer_texts, seed=recipe.seed), recipe.tokenizer_texts), recipe)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = _model(tokenizer, recipe)
    sequences = [
        [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        for text in texts(recipe.steps * recipe.batch_size, seed=recipe.seed)
    ]
    return Made(model=model, tokenizer=tokenizer, losses=_pretrain(model, sequences, recipe, on_step))


def make_tokenizer(corpus: Iterable[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    """A byte-level BPE tokenizer with single digits, so that no number is one token."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.vocabulary,
        special_tokens=[PAD, BOS, EOS],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(corpus, trainer)
    backend.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single=f"{BOS} $A", special_tokens=[(BOS, backend.token_to_id(BOS))]),
        ]
    )
    fast: Any = transformers.PreTrainedTokenizerFast
    return cast(
        "PreTrainedTokenizerBase",
        fast(
            tokenizer_object=backend,
            bos_token=BOS,
            eos_token=EOS,
            pad_token=PAD,
            model_max_length=recipe.context,
            clean_up_tokenization_spaces=False,
        ),
    )


def _model(tokenizer: PreTrainedTokenizerBase, recipe: Recipe) -> PreTrainedModel:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=recipe.hidden,
            num_hidden_layers=recipe.layers,
            intermediate_size=recipe.feed_forward,
            num_attention_heads=recipe.heads,
            num_key_value_heads=recipe.key_value_heads,
            max_position_embeddings=recipe.context,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def _pretrain(
    model: PreTrainedModel, sequences: Sequence[list[int]], recipe: Recipe, on_step: Callable[[int, float], None]
) -> tuple[float, ...]:
    import torch

    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.95), weight_decay=recipe.weight_decay
    )
    losses = []
    model.train()
    for step in range(recipe.steps):
        for group in optimizer.param_groups:
            group["lr"] = recipe.learning_rate * _schedule(step, recipe)
        loss = _loss(model, sequences[step * recipe.batch_size : (step + 1) * recipe.batch_size])
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.gradient_norm)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        on_step(step + 1, losses[-1])
    model.train(mode=False)
    return tuple(losses)


def _loss(model: PreTrainedModel, batch: Sequence[list[int]]) -> torch.Tensor:
    """Mean loss over the tokens of a batch, padded on the right."""
    import torch

    longest = max(len(ids) for ids in batch)
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in batch])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in batch])
    logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
    targets = ids[:, 1:].masked_fill(mask[:, 1:] == 0, -100)
    return torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), targets)


def _schedule(step: int, recipe: Recipe) -> float:
    """Linear warm-up, then a cosine down to a twentieth."""
    if step < recipe.warm_up:
        return (step + 1) / recipe.warm_up
    done = (step - recipe.warm_up) / max(1, recipe.steps - recipe.warm_up)
    return 0.05 + 0.95 * (1 + math.cos(math.pi * done)) / 2
