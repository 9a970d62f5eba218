"""LoRA adapters by peft: put on, checked, watched (Hu et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from leakscape.errors import InputError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from transformers import PreTrainedModel

ALL_LINEAR = "all-linear"

EXPERT_PARAMETERS = {"gpt_oss": ("mlp.experts.gate_up_proj", "mlp.experts.down_proj")}
"""Expert weights that are parameters, not linear modules, by model type: `all-linear` alone does not reach them."""


@dataclass(frozen=True, kw_only=True)
class LoraSettings:
    """Paper 000's settings are the defaults.

    Args:
        rank: of the two factors.
        alpha: the update is scaled by alpha / rank.
        dropout: before the first factor, while training.
        target_modules: `all-linear` (every linear layer but the output head, and the experts of gpt-oss), or module
            names separated by commas.
        experts: with `all-linear`, adapt the experts too. Opacus has no per-record gradient for them.
        seed: of the first factor's draw; the second one starts at 0.
    """

    rank: int = 16
    alpha: float = 32.0
    dropout: float = 0.0
    target_modules: str = ALL_LINEAR
    experts: bool = True
    seed: int = 0


def add_lora(model: PreTrainedModel, settings: LoraSettings) -> PreTrainedModel:
    """Put a fresh adapter on a model that is on its device already; only the adapter is trainable afterwards.

    The adapter is float32, whatever the precision of the base.

    Raises:
        InputError: no module has one of the names, or dropout is asked for where experts are adapted.
    """
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers.pytorch_utils import Conv1D

    every = settings.target_modules == ALL_LINEAR
    names = [name.strip() for name in settings.target_modules.split(",") if name.strip()]
    experts = EXPERT_PARAMETERS.get(model.config.model_type, ()) if every and settings.experts else ()
    if experts and settings.dropout:
        raise InputError("Adapters on the experts of this model allow no dropout; set --dropout 0.")
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.rank,
        lora_alpha=cast("int", settings.alpha),
        lora_dropout=settings.dropout,
        target_modules=ALL_LINEAR if every else names,
        target_parameters=list(experts) or None,
        fan_in_fan_out=any(isinstance(module, Conv1D) for module in model.modules()),
    )
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        try:
            adapted: Any = get_peft_model(model, config)
        except ValueError:
            raise InputError(
                f"The model has no module that --target-modules {settings.target_modules} could adapt."
            ) from None
    _check_trainable(adapted)
    return cast("PreTrainedModel", adapted)


def trainable(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """The parameters that training changes, by name, in the order of the names."""
    return {name: weight for name, weight in sorted(model.named_parameters()) if weight.requires_grad}


def snapshot(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Copies of the trainable parameters."""
    return {name: weight.detach().clone() for name, weight in trainable(model).items()}


def check_moved(model: torch.nn.Module, before: Mapping[str, torch.Tensor], optimizer: torch.optim.Optimizer) -> None:
    """Hold the adapter against a snapshot from before the first step.

    A model that was moved or wrapped after its optimizer was made trains nothing and says nothing.

    Raises:
        IntegrityError: the optimizer's parameters are not the model's, or no weight has moved.
    """
    import torch

    check_held(model, optimizer)
    weights = trainable(model)
    if weights.keys() != before.keys() or all(torch.equal(weights[name], before[name]) for name in before):
        raise IntegrityError("No weight of the adapter moved in the first step; the adapter would stay untrained.")


def check_held(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Hold the optimizer's parameters against the model's trainable ones.

    Raises:
        IntegrityError: they are not the same.
    """
    held = {id(weight) for group in optimizer.param_groups for weight in group["params"]}
    if held != {id(weight) for weight in trainable(model).values()}:
        raise IntegrityError("The optimizer does not hold the adapter's weights; the adapter would stay untrained.")


def _check_trainable(model: torch.nn.Module) -> None:
    names = trainable(model)
    strangers = [name for name in names if "lora_" not in name]
    if strangers or not names:
        raise IntegrityError(
            f"Only the adapter may be trainable, but {strangers[0]} is."
            if strangers
            else "The adapter has no trainable weight."
        )
