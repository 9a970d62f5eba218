"""From the contract of vllm-rewrite to a backend."""

import os
from collections.abc import Callable, Iterable

from components.vllm_rewrite.contract import VllmRewrite
from leakscape.records.record import CorpusRecord
from leakscape.rewriting.backend import Backend
from leakscape.rewriting.choose import ModelSettings, language_model
from leakscape.rewriting.rarity import count_values
from leakscape.rewriting.rules_backend import RulesBackend
from leakscape.settings import settings_of


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
    return language_model(settings_of(contract, ModelSettings), os.environ)
