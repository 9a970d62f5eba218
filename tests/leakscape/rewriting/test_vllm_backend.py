"""vLLM's interface, played by a fake engine: `LLM(...)`, `LLM.chat(conversations, sampling, ...)`, `SamplingParams`."""

import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from leakscape.errors import DependencyError
from leakscape.rewriting.backend import Request
from leakscape.rewriting.vllm_backend import EngineSettings, VllmBackend


@dataclass
class SamplingParams:
    temperature: float
    max_tokens: int
    seed: int
    skip_special_tokens: bool
    structured_outputs: "StructuredOutputsParams | None" = None


@dataclass
class StructuredOutputsParams:
    json: dict[str, Any]


@dataclass
class LLM:
    model: str
    revision: str | None
    tensor_parallel_size: int
    max_model_len: int | None
    seed: int
    calls: list[dict[str, Any]] = field(default_factory=list)

    def chat(
        self,
        messages: list[list[dict[str, str]]],
        sampling_params: list[SamplingParams],
        *,
        use_tqdm: bool,
        chat_template_kwargs: dict[str, Any] | None = None,
    ) -> list[SimpleNamespace]:
        self.calls.append({"sampling": sampling_params, "template": chat_template_kwargs, "use_tqdm": use_tqdm})
        outputs = []
        for conversation, sampling in zip(messages, sampling_params, strict=True):
            words = conversation[0]["content"].split()
            ended = len(words) <= sampling.max_tokens
            completion = SimpleNamespace(
                text=" ".join(words[: sampling.max_tokens]) + ("<|im_end|>" if ended else ""),
                token_ids=words[: sampling.max_tokens],
                finish_reason="stop" if ended else "length",
            )
            outputs.append(SimpleNamespace(outputs=[completion], prompt_token_ids=words))
        return outputs


@pytest.fixture
def _vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("vllm")
    module.LLM, module.SamplingParams = LLM, SamplingParams  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", module)
    sampling = ModuleType("vllm.sampling_params")
    sampling.StructuredOutputsParams = StructuredOutputsParams  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", sampling)


@pytest.mark.usefixtures("_vllm")
def test_answers_carry_their_ids_ends_and_counts() -> None:
    backend = VllmBackend(EngineSettings(model="toy", max_output_tokens=3, temperature=0.7, effort="low"))
    requests = [
        Request(id="a", prompt="one two", source="", seed=11),
        Request(id="b", prompt="one two three four", source="", seed=12),
    ]
    answers = list(backend.answers(requests))
    assert [(answer.id, answer.text, answer.finish) for answer in answers] == [
        ("a", "one two", "stop"),
        ("b", "one two three", "length"),
    ]
    assert [(answer.tokens_in, answer.tokens_out) for answer in answers] == [(2, 2), (4, 3)]
    call = backend._engine.calls[0]
    assert [sampling.seed for sampling in call["sampling"]] == [11, 12]
    assert call["template"] == {"reasoning_effort": "low"}


@pytest.mark.usefixtures("_vllm")
def test_unset_settings_are_left_to_the_engine() -> None:
    engine = VllmBackend(EngineSettings(model="toy", tensor_parallel=2))._engine
    assert (engine.revision, engine.max_model_len, engine.tensor_parallel_size) == (None, None, 2)


def test_without_vllm_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(DependencyError, match="use the rewrite image, or --backend openai"):
        VllmBackend(EngineSettings(model="toy"))


@pytest.mark.usefixtures("_vllm")
def test_an_answer_is_held_to_a_schema_where_one_is_asked_for() -> None:
    backend = VllmBackend(EngineSettings(model="toy"))
    free = Request(id="a", prompt="one", source="", seed=1)
    held = Request(id="b", prompt="one", source="", seed=1, schema={"type": "object"})
    list(backend.answers([free, held]))
    outputs = [sampling.structured_outputs for sampling in backend._engine.calls[0]["sampling"]]
    assert outputs == [None, StructuredOutputsParams({"type": "object"})]
