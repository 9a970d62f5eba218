"""Adapters on disk: PEFT folders with safetensors, never pickled weights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from leakscape.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from transformers import PreTrainedModel

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"


def apply_adapters(model: PreTrainedModel, adapters: Sequence[Path]) -> PreTrainedModel:
    """Put adapters on a model, the first one first.

    All but the last are merged into the weights, since the next one was trained on top of them.

    Raises:
        InputError: a folder holds no adapter in safetensors, or one that does not fit the model.
    """
    from peft import PeftModel

    adapted: Any = model
    for number, folder in enumerate(adapters, start=1):
        check_adapter(folder)
        try:
            applied: Any = PeftModel.from_pretrained(adapted, str(folder), is_trainable=False)
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"The adapter in {folder} does not fit the model ({type(error).__name__}); "
                "it was trained on another base."
            ) from None
        adapted = applied if number == len(adapters) else applied.merge_and_unload()
    return cast("PreTrainedModel", adapted)


def save_adapter(model: PreTrainedModel, folder: Path, *, base: str) -> None:
    """Write a PEFT model's adapter as `adapter_config.json` and `adapter_model.safetensors`, the same bytes each time.

    Args:
        model: a PEFT model.
        folder: must exist.
        base: the base model's name, for a reader of the configuration.
    """
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    state = get_peft_model_state_dict(model)
    save_file({name: state[name].detach().cpu().contiguous() for name in sorted(state)}, folder / WEIGHTS)
    config = cast("Any", model).peft_config["default"].to_dict()
    config["base_model_name_or_path"] = base
    config["inference_mode"] = True
    plain = {name: sorted(value) if isinstance(value, set) else value for name, value in config.items()}
    text = json.dumps(plain, indent=2, sort_keys=True, default=str)
    (folder / CONFIG).write_text(text + "\n", encoding="utf-8", newline="\n")


def check_adapter(folder: Path) -> None:
    """Refuse what is no PEFT adapter in safetensors.

    Raises:
        InputError: with what is missing.
    """
    if not (folder / CONFIG).is_file():
        raise InputError(f"{folder} is no adapter: it has no {CONFIG}.")
    if not (folder / WEIGHTS).is_file():
        pickled = any(folder.glob("adapter_model.bin"))
        raise InputError(
            f"{folder} holds its weights as a pickle, which is never loaded; save them as {WEIGHTS}."
            if pickled
            else f"{folder} has no {WEIGHTS}."
        )
