"""From settings to the backend that asks a language model."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from leakscape.errors import InputError
from leakscape.rewriting.backend import Backend
from leakscape.settings import settings_of

_LIBRARIES = {"openai": ("openai",), "vllm": ("vllm",), "transformers": ("torch", "transformers")}


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Which model is asked, and how; each backend reads what concerns it.

    Args:
        backend: `vllm`, `openai` or `transformers`.
        model: a Hugging Face id or path, or the endpoint's name for it.
        revision: at the hub; '' for its main branch.
        effort: reasoning effort; '' leaves it to the model.
        temperature: 0 is greedy, -1 leaves it to an endpoint.
        max_output_tokens: longest answer, reasoning included.
        base_url, api, key_variable, concurrency, timeout, retries: an endpoint's; see `Endpoint`. The credential
            itself is in the environment variable `key_variable`.
        tensor_parallel, max_model_tokens, seed: vLLM's; see `EngineSettings`.
        batch_size, device: those of transformers.
    """

    backend: str
    model: str
    revision: str
    effort: str
    temperature: float
    max_output_tokens: int
    base_url: str
    api: str
    key_variable: str
    concurrency: int
    timeout: float
    retries: int
    tensor_parallel: int
    max_model_tokens: int
    batch_size: int
    device: str
    seed: int


def libraries(backend: str) -> tuple[str, ...]:
    """The distributions whose versions may change a backend's answers, as far as they are installed."""
    return tuple(name for name in _LIBRARIES.get(backend, ()) if importlib.util.find_spec(name))


def language_model(settings: ModelSettings, environment: Mapping[str, str]) -> Backend:
    """The backend that the settings name.

    Args:
        settings: says which and how.
        environment: where an endpoint's credential is looked up.

    Raises:
        InputError: a setting that this backend needs is missing.
        DependencyError: the backend's library is not installed.
    """
    if not settings.model:
        raise InputError(f"--model must be given for --backend {settings.backend}.")
    if settings.backend == "openai":
        return _openai(settings, environment)
    if settings.temperature < 0:
        raise InputError("--temperature -1 leaves it to an endpoint; this backend needs 0 or more.")
    local: dict[str, Callable[[ModelSettings], Backend]] = {"vllm": _vllm, "transformers": _transformers}
    return local[settings.backend](settings)


def _openai(settings: ModelSettings, environment: Mapping[str, str]) -> Backend:
    from leakscape.rewriting.openai_backend import Endpoint, OpenAIBackend

    key = environment.get(settings.key_variable, "")
    if not key and not settings.base_url:
        raise InputError(f"the environment variable {settings.key_variable} must hold the endpoint's credential.")
    return OpenAIBackend(settings_of(settings, Endpoint, key=key or "unset"))


def _vllm(settings: ModelSettings) -> Backend:
    from leakscape.rewriting.vllm_backend import EngineSettings, VllmBackend

    return VllmBackend(settings_of(settings, EngineSettings))


def _transformers(settings: ModelSettings) -> Backend:
    from leakscape.models.load import load_model
    from leakscape.rewriting.transformers_backend import TransformersBackend

    return TransformersBackend(
        load_model(settings.model, revision=settings.revision, device=settings.device),
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        batch_size=settings.batch_size,
        effort=settings.effort,
    )
