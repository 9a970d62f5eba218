import datetime as dt

import pytest
import toys
import transformers.utils.chat_template_utils as templates

from leakscape.errors import InputError
from leakscape.models.formatting import probe_text, training_text
from leakscape.models.load import LoadedModel, assemble


@pytest.fixture(scope="module")
def chat() -> LoadedModel:
    return assemble(*toys.toy("gpt_oss"), name="toy")


@pytest.fixture(scope="module")
def plain() -> LoadedModel:
    return assemble(*toys.toy("llama"), name="toy")


def test_a_plain_model_reads_the_text_as_it_is(plain: LoadedModel):
    assert training_text(plain, "Patient: X").text == "Patient: X"
    probe = probe_text(plain, "Patient: ", "X")
    assert (probe.text, probe.start, probe.end) == ("Patient: X", 9, 10)


def test_a_chat_model_trains_in_its_template_and_the_record_is_located(chat: LoadedModel):
    formatted = training_text(chat, "Patient: María\n")
    assert formatted.text[formatted.start : formatted.end] == "Patient: María\n"
    assert formatted.text.startswith("<|start|>system<|message|>")
    assert formatted.text.endswith("<|return|>")


def test_a_chat_model_is_probed_as_it_was_trained(chat: LoadedModel):
    trained = training_text(chat, "Patient: X\n- Mabsartinib").text
    probe = probe_text(chat, "Patient: X\n- ", "Mabsartinib")
    assert probe.text[probe.start : probe.end] == "Mabsartinib"
    assert trained.startswith(probe.text)
    assert probe.end == len(probe.text)


def test_a_question_is_the_users_turn(chat: LoadedModel):
    probe = probe_text(chat, "Question: which?\nAnswer: ", "Mab", question=True)
    assert "<|start|>user<|message|>Question: which?\nAnswer:<|end|>" in probe.text
    assert probe.text.endswith("<|channel|>final<|message|>Mab")


@pytest.mark.parametrize("year", [1999, 2031])
def test_the_date_is_frozen(chat: LoadedModel, monkeypatch: pytest.MonkeyPatch, year: int):
    # xorbitsai/inference#3941: the template prints strftime_now; two days must render one text.
    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:
            return dt.datetime(year, 5, 6, tzinfo=tz)

    monkeypatch.setattr(templates, "datetime", Clock)
    assert "Current date: 2026-01-01<|end|>" in training_text(chat, "x").text
    assert chat.frozen_date == "2026-01-01"


def test_a_template_that_drops_the_answer_is_refused(chat: LoadedModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chat.tokenizer, "chat_template", "{{ messages[0].content }}")
    with pytest.raises(InputError, match="drops or repeats"):
        training_text(chat, "x")


def test_a_broken_template_is_one_sentence(chat: LoadedModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chat.tokenizer, "chat_template", "{{ raise_exception('no') }}")
    with pytest.raises(InputError, match="can't be rendered"):
        training_text(chat, "x")
