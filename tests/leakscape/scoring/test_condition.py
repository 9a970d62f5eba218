import datetime as dt

import pytest
import toys

from leakscape.models import formatting
from leakscape.models.load import LoadedModel, load_model
from leakscape.scoring import condition
from leakscape.scoring.condition import prompt_hash


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    folder = tmp_path_factory.mktemp("models")
    return {name: load_model(str(toys.save(name, folder / name)), device="cpu") for name in ("llama", "gpt_oss")}


def test_the_hash_names_the_question_and_nothing_else_of_a_plain_model(
    loaded: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch
):
    before = prompt_hash(loaded["llama"])
    monkeypatch.setattr(formatting, "RECORD_REQUEST", "Another turn.")
    assert prompt_hash(loaded["llama"]) == before
    monkeypatch.setattr(condition, "QUESTION", "Which medication? ")
    assert prompt_hash(loaded["llama"]) != before


@pytest.mark.parametrize("changed", ["RECORD_REQUEST", "FROZEN_DATE"])
def test_the_hash_names_what_a_chat_template_prints(
    loaded: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch, changed: str
):
    before = prompt_hash(loaded["gpt_oss"])
    assert before != prompt_hash(loaded["llama"])
    other = {"RECORD_REQUEST": "Another turn.", "FROZEN_DATE": dt.date(2025, 5, 5)}[changed]
    monkeypatch.setattr(formatting, changed, other)
    assert prompt_hash(loaded["gpt_oss"]) != before
