"""The questions of a preflight: each gives a sentence where all is fine, and raises one of our errors where not."""

import importlib.metadata
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leakscape import __version__
from leakscape.errors import DependencyError, InputError, TransientError
from leakscape.models import hub
from leakscape.models.load import resolve
from leakscape.storage import open_place

GIB = 1 << 30
HUB_VARIABLE = "HF_TOKEN"
_LIBRARIES = ("torch", "transformers", "peft", "accelerate", "safetensors")


def model(name: str, environment: Mapping[str, str], *, files_alone: bool = False) -> str:
    """Whether a model's configuration and tokenizer can be read.

    Args:
        name: an id, `id@revision`, a folder, or `leakscape/tiny`.
        environment: where the hub's token would be.
        files_alone: only whether the configuration's file can be had: reading it might run the model's own code.

    Raises:
        InputError: there is no such model, a licence is not accepted, or this transformers can't read it.
        TransientError: the hub is away.
        DependencyError: transformers is not installed.
    """
    bare, _, revision = name.partition("@")
    source = resolve(bare)
    local = Path(source).exists()
    try:
        import huggingface_hub
        from transformers import AutoConfig, AutoTokenizer
    except ImportError:
        raise DependencyError("transformers is not installed here; run the preflight in the image evaluate.") from None
    try:
        if files_alone:
            if not local:
                huggingface_hub.hf_hub_download(source, "config.json", revision=revision or None)
            return "its files can be had."
        common: dict[str, Any] = {} if local else {"revision": revision or "main"}
        kind = AutoConfig.from_pretrained(source, **common).model_type
        AutoTokenizer.from_pretrained(source, **common)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise _of_hub(error, environment) from None
    return f"its configuration ({kind}) and tokenizer can be read."


def _of_hub(error: Exception, environment: Mapping[str, str]) -> InputError | TransientError:
    token = f"the token in {HUB_VARIABLE}" if environment.get(HUB_VARIABLE) else f"{HUB_VARIABLE}, which is not set,"
    if hub.is_gated(error):
        return InputError(f"its licence must be accepted at the hub, by the account of {token} before it can be read.")
    if hub.is_missing(error):
        return InputError(f"the hub has no such model or revision, or {token} gives no access to it.")
    if hub.is_away(error) and not environment.get("HF_HUB_OFFLINE"):
        return TransientError("the model hub could not be reached.")
    version = importlib.metadata.version("transformers")
    return InputError(f"transformers {version} can't read its configuration and tokenizer ({type(error).__name__}).")


def secret(name: str, environment: Mapping[str, str]) -> str:
    """Whether an environment variable holds something; what it holds is not looked at.

    Raises:
        InputError: it does not.
    """
    if not environment.get(name):
        raise InputError("the environment lacks it; put it under this name into the secret that the placement names.")
    return "is set."


def place(name: str) -> str:
    """Whether a place takes a small object, gives it back and lets go of it.

    Raises:
        InputError, TransientError, DependencyError: as `leakscape.storage` has them.
    """
    probe, content = f"preflight-{uuid.uuid4().hex}", b"leakscape preflight"
    with open_place(name) as opened:
        opened.create(probe, content)
        try:
            given = opened.read(probe).content
        finally:
            opened.remove(probe)
    if given != content:
        raise InputError("it gave back other bytes than were written.")
    return "an object was written, read and removed."


def source(name: str) -> str:
    """Whether a place holds something to read.

    Raises:
        InputError: it holds nothing, or can't be read.
        TransientError: a service is away.
    """
    with open_place(name) as opened:
        count = len(opened.names())
    if not count:
        raise InputError("it holds nothing; check the path.")
    return f"{count} files are there."


def accelerators(count: int, memory: float) -> str:
    """Whether so many accelerators are seen, each with so many GiB.

    Raises:
        InputError: there are fewer, or one has less.
        DependencyError: torch is not installed.
    """
    try:
        import torch
    except ImportError:
        raise DependencyError("torch is not installed here; run the preflight in the image evaluate.") from None
    sizes = [torch.cuda.get_device_properties(at).total_memory / GIB for at in range(torch.cuda.device_count())]
    if len(sizes) < count:
        raise InputError(
            f"{len(sizes)} seen, {count} needed; check the pool's selector, its driver, and the step's `accelerators`."
        )
    small = [size for size in sizes if size < memory]
    if small:
        raise InputError(f"one has {min(small):.0f} GiB, {memory:g} GiB are needed; choose another pool.")
    return f"{len(sizes)} seen, with {', '.join(f'{size:.0f}' for size in sizes)} GiB."


def disk(folder: Path, needed: float) -> str:
    """Whether a folder's disk has so many GiB free.

    Raises:
        InputError: it has not.
    """
    free = shutil.disk_usage(folder).free / GIB
    if free < needed:
        raise InputError(f"{free:.0f} GiB are free, {needed:g} GiB are needed; raise `scratch` or choose another pool.")
    return f"{free:.0f} GiB are free."


def version(compiled: str) -> str:
    """Whether the image holds the leakscape that compiled the pipeline; tells the libraries' versions.

    Raises:
        InputError: it holds another one.
    """
    if compiled and compiled != __version__:
        raise InputError(
            f"the image holds leakscape {__version__}, the pipeline was compiled by {compiled}; compile it again with "
            "this version's images."
        )
    found = [f"{name} {_installed(name)}" for name in _LIBRARIES if _installed(name)]
    return ", ".join([f"leakscape {__version__}", *found]) + "."


def _installed(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
