"""Adapted toys, random examples, brute-force gradients and single updates, shared by the tests of DP-SGD."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import torch
import toys

from leakscape.training import dp
from leakscape.training.dataset import Example
from leakscape.training.dp import train_private
from leakscape.training.lora import LoraSettings, add_lora, snapshot, trainable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from leakscape.training.accounting import Schedule
    from leakscape.training.dp import DpSettings
    from leakscape.training.dp_lots import Unit

PAD = 3


def adapted(architecture: str = "llama", *, dtype: torch.dtype = torch.float32, dropout: float = 0.0) -> Any:  # noqa: ANN401
    """A toy with an adapter whose second factor is not 0, so that both factors have a gradient."""
    model, _ = toys.toy(architecture)
    settings = LoraSettings(rank=4, alpha=8.0, dropout=dropout, experts=False)
    peft_model = add_lora(model.to(dtype), settings)
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name, weight in trainable(peft_model).items():
            if "lora_B" in name:
                weight.normal_(std=0.1, generator=generator)
    return peft_model


def examples(count: int, *, persons: Sequence[str] = (), seed: int = 0) -> list[Example]:
    """Random tokens of unequal lengths; the first label is never learnt."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        ids = tuple(draw.randrange(5, 300) for _ in range(draw.randrange(4, 20)))
        person = persons[number] if persons else f"p-{number}"
        made.append(Example(f"r-{number}", person, ids, (-100, *ids[1:])))
    return made


def flat(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.cat([tensor.detach().double().flatten() for tensor in tensors])


def brute_force(model: Any, units: Sequence[Unit]) -> list[torch.Tensor]:  # noqa: ANN401
    """The gradient of each unit, one record at a time, by plain autograd and the loss of a single text."""
    weights = list(trainable(model).values())
    gradients = []
    for unit in units:
        total = torch.zeros(sum(weight.numel() for weight in weights), dtype=torch.float64)
        for example in unit:
            ids = torch.tensor([example.ids])
            scores = model(input_ids=ids, use_cache=False).logits.float()[0, :-1]
            loss = torch.nn.functional.cross_entropy(scores, ids[0, 1:])
            total += flat(torch.autograd.grad(loss, weights)) / len(unit)
        gradients.append(total)
    return gradients


def clipped_sum(gradients: Sequence[torch.Tensor], clip: float) -> torch.Tensor:
    """Abadi et al. 2016, algorithm 1, with Opacus's guard against a norm of 0."""
    total = torch.zeros_like(gradients[0])
    for gradient in gradients:
        total += gradient * min(1.0, clip / (float(gradient.norm()) + 1e-6))
    return total


def sgd(weights: list[torch.nn.Parameter], learning_rate: float) -> torch.optim.Optimizer:
    return torch.optim.SGD(weights, lr=learning_rate)


def update(model: Any, units: tuple[Unit, ...], settings: DpSettings, plan: Schedule) -> torch.Tensor:  # noqa: ANN401
    """What plain SGD at rate 1 subtracts from the weights: the private gradient itself."""
    before = flat(list(snapshot(model).values()))
    train_private(model, units, settings, plan, pad_id=PAD, make_optimizer=sgd)
    return before - flat(list(trainable(model).values()))


def draw(monkeypatch: pytest.MonkeyPatch, lots: list[list[int]]) -> None:
    """Let seeded runs draw these lots, and runs without a seed none."""
    monkeypatch.setattr(dp, "poisson_lots", lambda _plan, *, seed: lots if seed is not None else [])


def relative(found: torch.Tensor, right: torch.Tensor) -> float:
    return float((found - right).norm() / right.norm())
