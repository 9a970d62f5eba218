"""Load a causal language model by id or path, and its adapters.

    loaded = load_model("leakscape/tiny", adapters=[folder])

Weights come from safetensors alone, so nothing is unpickled. A model's own code runs only where it is asked for.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from leakscape.errors import DependencyError, InputError, TransientError
from leakscape.models import hub
from leakscape.models.formatting import FROZEN_DATE
from leakscape.models.tokens import tokenizer_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase  # noqa: TC004  # heavy

TINY = "leakscape/tiny"
"""The name of the base model that ships with the package."""

CHAT_ONLY = frozenset({"gpt_oss"})
"""Model types that exist in a chat form alone. Many base models carry a chat template too, but read plain text."""

_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model ready for training or scoring.

    Args:
        model: in eval mode, on its device; with its adapters applied and frozen.
        tokenizer: of the fast kind; it always has a padding token.
        name: as it was asked for: the id, path or `leakscape/tiny`.
        device: where the model is (`cpu`, `cuda:0`).
        dtype: of the base weights (`float32`, `bfloat16`).
        chat: texts stand in the model's chat template.
        tokenizer_hash: see `leakscape.models.tokens.tokenizer_hash`.
        frozen_date: what the chat template prints as today (ISO); empty for a plain model.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    device: str
    dtype: str
    chat: bool
    tokenizer_hash: str
    frozen_date: str = ""


def load_model(
    model: str,
    *,
    revision: str = "",
    dtype: str = "auto",
    device: str = "auto",
    adapters: Sequence[Path] = (),
    trust_remote_code: bool = False,
) -> LoadedModel:
    """Load a causal language model and apply adapters in their order.

    Args:
        model: a Hugging Face id, a local folder, or `leakscape/tiny`.
        revision: branch, tag or commit of a Hugging Face id; empty for the default branch.
        dtype: `auto` (bfloat16 where the device computes in it, float32 on the CPU), `float32` or `bfloat16`.
        device: `auto` (the first CUDA device, else the CPU) or a name that torch knows.
        adapters: PEFT folders, each trained on the model with the ones before it.
        trust_remote_code: run code that the model's repository brings.

    Raises:
        DependencyError: torch, transformers or peft is not installed.
        InputError: there is no such model, adapter, revision or device, or it is not a causal language model in
            safetensors with a fast tokenizer.
        TransientError: the model hub could not be reached.
    """
    _require("torch", "transformers", "peft")
    import transformers

    where = choose_device(device)
    precision = choose_dtype(dtype, where)
    source = resolve(model)
    common: dict[str, Any] = {"trust_remote_code": trust_remote_code}
    if not Path(source).exists():
        common["revision"] = revision or "main"
    with _explained(model, revision):
        config = transformers.AutoConfig.from_pretrained(source, **common)
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **common)
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            source, config=config, dtype=precision, use_safetensors=True, **_dequantised(config), **common
        )
    return assemble(cast("Any", loaded).to(where), tokenizer, name=model, adapters=adapters)


def assemble(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str, adapters: Sequence[Path] = ()
) -> LoadedModel:
    """Make a `LoadedModel` of a model that is in memory; `load_model` ends here.

    Raises:
        InputError: the tokenizer knows no offsets, or a chat model brings no template, or an adapter does not fit.
    """
    from leakscape.models.adapters import apply_adapters

    if not tokenizer.is_fast:
        raise InputError(f"{name} has no fast tokenizer, so tokens can't be located in the text; choose another model.")
    chat = model.config.model_type in CHAT_ONLY
    if chat and not tokenizer.chat_template:
        raise InputError(f"{name} is a chat model, but its tokenizer brings no chat template; add the template to it.")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    tokenizer.padding_side = "right"
    first = next(model.parameters())
    adapted: Any = apply_adapters(model, adapters)
    return LoadedModel(
        model=adapted.eval(),
        tokenizer=tokenizer,
        name=name,
        device=str(first.device),
        dtype=str(first.dtype).removeprefix("torch."),
        chat=chat,
        tokenizer_hash=tokenizer_hash(tokenizer),
        frozen_date=FROZEN_DATE.isoformat() if chat else "",
    )


def resolve(model: str) -> str:
    """The folder or hub id that a model's name stands for.

    Raises:
        InputError: it is neither a folder with a model nor the form of an id.
    """
    path = Path(str(files("leakscape.models") / "tiny")) if model == TINY else Path(model).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise InputError(f"{model} holds no model: it has no config.json.")
        return str(path)
    if model == TINY or path.exists() or not _HUB_ID.fullmatch(model) or model.startswith("."):
        raise InputError(f"{model!r} is no folder with a model and no model id; check the path.")
    return model


def choose_device(device: str) -> str:
    """The device that `device` stands for.

    Raises:
        InputError: torch does not know it or the machine does not have it.
    """
    import torch

    if device == "auto":
        return "cuda:0" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        raise InputError(f"This machine has no device {device!r}; use auto, cpu, or one that torch sees.") from None
    return device


def choose_dtype(dtype: str, device: str) -> torch.dtype:
    """The precision that `dtype` stands for on `device`.

    Raises:
        InputError: it is none of auto, float32, bfloat16.
    """
    import torch

    named = {"float32": torch.float32, "bfloat16": torch.bfloat16}
    if dtype == "auto":
        has_bf16 = device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if has_bf16 else torch.float32
    if dtype not in named:
        raise InputError(f"The precision must be auto, float32 or bfloat16, not {dtype!r}.")
    return named[dtype]


def _dequantised(config: PreTrainedConfig) -> dict[str, Any]:
    """Arguments that unpack MXFP4 weights (gpt-oss as published), which can't be trained as they are."""
    quantization = getattr(config, "quantization_config", None) or {}
    if quantization.get("quant_method") != "mxfp4":
        return {}
    from transformers.utils.quantization_config import Mxfp4Config

    return {"quantization_config": Mxfp4Config(dequantize=True)}


@contextlib.contextmanager
def _explained(model: str, revision: str) -> Iterator[None]:
    """Turn what a loader throws into one sentence."""
    at = f"{model} at revision {revision}" if revision else model
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError) as error:
        if hub.is_missing(error):
            raise InputError(
                f"The model hub has no {at}, or you have no access to it; check the id and revision, or log in."
            ) from None
        if hub.is_away(error) and not os.environ.get("HF_HUB_OFFLINE"):
            raise TransientError(
                f"The model hub could not be reached for {at}; try again, or give the path of a downloaded model."
            ) from None
        raise InputError(
            f"{at} can't be loaded as a causal language model in safetensors with a tokenizer "
            f"({type(error).__name__}); give a model that transformers can load, or its complete folder."
        ) from None


def _require(*names: str) -> None:
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise DependencyError(f"{name} is not installed; install leakscape[train].")
