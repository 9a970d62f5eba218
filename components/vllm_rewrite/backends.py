"""From the contract of vllm-rewrite to a backend."""

import os
from collections.abc import Callable, Iterable

from components.vllm_rewrite.contract import VllmRewrite
from leakscape.errors import InputError
from leakscape.records.record import CorpusRecord
from leakscape.rewriting.backend import Backend
from leakscape.rewriting.rarity import count_values
from leakscape.rewriting.rules_backend import RulesBackend


def backend(contract: VllmRewrite, corpus: Callable[[], Iterable[CorpusRecord]]) -> Backend:
    """The rewriter that a contract names.

    Args:
        contract: says which and how.
        corpus: gives the corpus's records anew at each call.

    Raises:
        InputError: a setting that this backend needs is missing.
        DependencyError: the backend's library is not installed.
    """
    if contract.backend == "rules":
        return RulesBackend(contract.strategy, count_values(corpus(), rare_below=contract.rare_below))
    if not contract.model:
        raise InputError(f"--model must be given for --backend {contract.backend}.")
    if contract.temperature < 0 and contract.backend != "openai":
        raise InputError("--temperature -1 leaves it to an endpoint; this backend needs 0 or more.")
    return {"openai": _openai, "vllm": _vllm, "transformers": _transformers}[contract.backend](contract)


def _openai(contract: VllmRewrite) -> Backend:
    from leakscape.rewriting.openai_backend import Endpoint, OpenAIBackend

    key = os.environ.get(contract.key_variable, "")
    if not key and not contract.base_url:
        raise InputError(f"the environment variable {contract.key_variable} must hold the endpoint's credential.")
    return OpenAIBackend(
        Endpoint(
            model=contract.model,
            base_url=contract.base_url,
            api="chat" if contract.api == "chat" else "responses",
            key=key or "unset",
            effort=contract.effort,
            temperature=contract.temperature,
            max_output_tokens=contract.max_output_tokens,
            concurrency=contract.concurrency,
            timeout=contract.timeout,
            retries=contract.retries,
        )
    )


def _vllm(contract: VllmRewrite) -> Backend:
    from leakscape.rewriting.vllm_backend import EngineSettings, VllmBackend

    return VllmBackend(
        EngineSettings(
            model=contract.model,
            revision=contract.revision,
            tensor_parallel=contract.tensor_parallel,
            max_model_tokens=contract.max_model_tokens,
            max_output_tokens=contract.max_output_tokens,
            temperature=contract.temperature,
            effort=contract.effort,
            seed=contract.seed,
        )
    )


def _transformers(contract: VllmRewrite) -> Backend:
    from leakscape.models.load import load_model

    from leakscape.rewriting.transformers_backend import TransformersBackend

    return TransformersBackend(
        load_model(contract.model, revision=contract.revision, device=contract.device),
        max_output_tokens=contract.max_output_tokens,
        temperature=contract.temperature,
        batch_size=contract.batch_size,
        effort=contract.effort,
    )
