"""Expected values: each record's gradient by plain autograd, one at a time."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
import toys
from dp_toys import PAD, adapted, brute_force, examples, flat
from opacus.grad_sample import GradSampleHooks

from leakscape.errors import InputError
from leakscape.training.dp_gradients import hooked, unit_gradients
from leakscape.training.dp_lots import Unit, units_of
from leakscape.training.loop import enable_gradient_checkpointing
from leakscape.training.lora import trainable

PERSONS = ["a", "b", "c", "b", "c", "c", "c", "c"]  # 1, 2 and 5 records


def measured(model: Any, units: tuple[Unit, ...], micro_batch: int) -> tuple[list[torch.Tensor], list[float]]:  # noqa: ANN401
    model.train()
    with hooked(model):
        losses, _ = unit_gradients(model, units, micro_batch=micro_batch, pad_id=PAD)
        rows = [flat([weight.grad_sample[at] for weight in trainable(model).values()]) for at in range(len(units))]  # type: ignore[attr-defined]
    model.train(mode=False)
    return rows, losses


def worst(found: list[torch.Tensor], right: list[torch.Tensor]) -> float:
    return max(float((one - two).norm() / two.norm()) for one, two in zip(found, right, strict=True))


@pytest.mark.parametrize("architecture", toys.ARCHITECTURES)
def test_record_gradients_are_those_of_each_record_alone(architecture: str) -> None:
    model = adapted(architecture)
    units = units_of(examples(5), "record")
    found, losses = measured(model, units, micro_batch=5)
    assert worst(found, brute_force(model, units)) < 1e-5
    assert len(set(losses)) == 5


@pytest.mark.parametrize("micro_batch", [1, 2, 100])
def test_a_persons_gradient_is_that_of_the_mean_over_its_records(micro_batch: int) -> None:
    model = adapted("llama")
    units = units_of(examples(8, persons=PERSONS), "person")
    assert [len(unit) for unit in units] == [1, 2, 5]
    found, losses = measured(model, units, micro_batch)
    assert worst(found, brute_force(model, units)) < 1e-5
    alone = [measured(model, (unit,), 8)[1][0] for unit in units]
    assert losses == pytest.approx(alone, rel=1e-5)


# The base computes in bfloat16, so a padded batch rounds elsewhere than a single text: compare at equal lengths.
def test_bfloat16_base_with_float32_adapter() -> None:
    model = adapted("llama", dtype=torch.bfloat16)
    assert {weight.dtype for weight in trainable(model).values()} == {torch.float32}
    units = units_of(examples(4), "record")
    found, _ = measured(model, units, micro_batch=1)
    assert worst(found, brute_force(model, units)) < 1e-5


@pytest.mark.parametrize("architecture", ["llama", "gpt_oss"])
def test_gradient_checkpointing_in_its_reentrant_form_changes_nothing(architecture: str) -> None:
    model = adapted(architecture)
    units = units_of(examples(4), "record")
    right = brute_force(model, units)
    enable_gradient_checkpointing(model, reentrant=True)
    assert worst(measured(model, units, micro_batch=4)[0], right) < 1e-5


def test_no_unit_gives_no_row() -> None:
    model = adapted("llama").train()
    with hooked(model):
        assert unit_gradients(model, [], micro_batch=2, pad_id=PAD) == ([], 0)
        assert all(weight.grad_sample.shape == (0, *weight.shape) for weight in trainable(model).values())  # type: ignore[attr-defined]


def test_hooks_leave_nothing_behind() -> None:
    model = adapted("llama")
    before = set(vars(next(iter(trainable(model).values()))))
    with hooked(model):
        pass
    assert set(vars(next(iter(trainable(model).values())))) == before


class _Small(torch.nn.Module):
    """Two frozen embeddings and an adapted layer that may see all tokens of the batch in one row of tokens."""

    def __init__(self, *, flattens: bool, used: bool) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(300, 8).requires_grad_(requires_grad=False)
        self.head = torch.nn.ModuleDict({"lora_A": torch.nn.Linear(8, 300, bias=False)})
        self.idle = torch.nn.ModuleDict({} if used else {"lora_B": torch.nn.Linear(2, 2, bias=False)})
        self.flattens = flattens

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, *, use_cache: bool) -> SimpleNamespace:
        assert attention_mask.shape == input_ids.shape
        assert not use_cache
        hidden = self.embedding(input_ids).requires_grad_()
        rows = hidden.flatten(0, 1) if self.flattens else hidden
        return SimpleNamespace(logits=self.head["lora_A"](rows).reshape(*input_ids.shape, -1))


@pytest.mark.parametrize(
    ("flattens", "used", "words"),
    [(True, True, "head mixes the tokens of several records"), (False, False, "idle takes no part in the loss")],
)
def test_module_without_a_gradient_of_a_record_is_refused(flattens: bool, used: bool, words: str) -> None:
    model = _Small(flattens=flattens, used=used).train()
    hooks = GradSampleHooks(model, loss_reduction="sum")
    with pytest.raises(InputError, match=words):
        unit_gradients(model, units_of(examples(3), "record"), micro_batch=3, pad_id=PAD)
    hooks.cleanup()
