from pathlib import Path

import pytest
import toys

from components.vllm_rewrite.contract import VllmRewrite
from leakscape.errors import InputError
from leakscape.rewriting.choose import ModelSettings, language_model, libraries
from leakscape.rewriting.openai_backend import OpenAIBackend
from leakscape.rewriting.transformers_backend import TransformersBackend
from leakscape.settings import settings_of


def contract(**params: object) -> VllmRewrite:
    paths = dict.fromkeys(("corpus", "exemplars", "rewritten", "ledger"), Path("x"))
    return VllmRewrite(**paths, **params)  # type: ignore[arg-type]


def test_an_endpoint_gets_the_settings_and_the_credential_of_its_own_variable() -> None:
    settings = settings_of(
        contract(backend="openai", model="judge", api="responses", effort="low", key_variable="MINE", retries=3),
        ModelSettings,
    )
    made = language_model(settings, {"MINE": "one", "OPENAI_API_KEY": "another"})
    assert isinstance(made, OpenAIBackend)
    endpoint = made._endpoint
    assert (endpoint.key, endpoint.api, endpoint.effort, endpoint.retries) == ("one", "responses", "low", 3)


def test_an_endpoint_with_an_address_needs_no_credential_and_one_without_does() -> None:
    own = settings_of(contract(backend="openai", model="judge", base_url="http://127.0.0.1:1/v1"), ModelSettings)
    assert language_model(own, {}).model == "judge"
    with pytest.raises(InputError, match="OPENAI_API_KEY must hold"):
        language_model(settings_of(contract(backend="openai", model="judge"), ModelSettings), {})


def test_a_model_is_loaded_by_transformers(tmp_path: Path) -> None:
    folder = str(toys.save("llama", tmp_path / "model"))
    made = language_model(
        settings_of(contract(backend="transformers", model=folder, temperature=0.0), ModelSettings), {}
    )
    assert isinstance(made, TransformersBackend)
    assert made.model == folder


def test_libraries_are_those_of_the_backend_that_are_there() -> None:
    assert libraries("openai") == ("openai",)
    assert libraries("transformers") == ("torch", "transformers")
    assert libraries("rules") == ()
