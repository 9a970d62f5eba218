"""vLLM, offline: batched on the GPUs of one pod.

At the same seed vLLM may still answer differently in other company (batch sizes change the order of sums), so a
rewrite is kept with its hash and never promised to come out again.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leakscape.errors import DependencyError
from leakscape.rewriting.backend import Answer, Finish, Request, final_text


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """How vLLM is started and asked.

    Args:
        model: a Hugging Face id or path; revision: '' for its main branch.
        tensor_parallel: GPUs that share the model.
        max_model_tokens: longest prompt and answer together; 0 for the model's own limit.
        max_output_tokens: reasoning included.
        temperature: 0 for greedy decoding.
        effort: reasoning effort for models whose chat template takes one.
        seed: the engine's; each request brings its own besides.
    """

    model: str
    revision: str = ""
    tensor_parallel: int = 1
    max_model_tokens: int = 0
    max_output_tokens: int = 4096
    temperature: float = 0.0
    effort: str = ""
    seed: int = 0


class VllmBackend:
    """Asks one vLLM engine.

    Raises:
        DependencyError: vLLM is not installed (it is in the rewrite image only).
    """

    def __init__(self, settings: EngineSettings) -> None:
        try:
            import vllm
        except ImportError:
            raise DependencyError(
                "vLLM is not installed here: use the rewrite image, or --backend openai, transformers or rules."
            ) from None
        self.model = settings.model
        self._settings = settings
        self._sampling: Any = vllm.SamplingParams
        self._engine: Any = vllm.LLM(
            model=settings.model,
            revision=settings.revision or None,
            tensor_parallel_size=settings.tensor_parallel,
            max_model_len=settings.max_model_tokens or None,
            seed=settings.seed,
        )

    def answers(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """See `Backend`. One batch; vLLM returns its outputs in the order of the prompts."""
        started = time.monotonic()
        outputs = self._engine.chat(
            [[{"role": "user", "content": request.prompt}] for request in requests],
            [self._parameters(request) for request in requests],
            use_tqdm=False,
            **({"chat_template_kwargs": {"reasoning_effort": self._settings.effort}} if self._settings.effort else {}),
        )
        share = (time.monotonic() - started) / max(len(requests), 1)
        for request, output in zip(requests, outputs, strict=True):
            completion = output.outputs[0]
            finish: Finish = "stop" if completion.finish_reason == "stop" else "length"
            yield Answer(
                id=request.id,
                text=final_text(completion.text),
                finish=finish,
                tokens_in=len(output.prompt_token_ids),
                tokens_out=len(completion.token_ids),
                seconds=share,
            )

    def _parameters(self, request: Request) -> Any:  # noqa: ANN401  vllm is typed only where it is installed
        return self._sampling(
            temperature=self._settings.temperature,
            max_tokens=self._settings.max_output_tokens,
            seed=request.seed,
            # The channel marks of reasoning models are what `final_text` cuts by.
            skip_special_tokens=False,
            **_structured(request),
        )


def _structured(request: Request) -> dict[str, Any]:
    if request.schema is None:
        return {}
    from vllm.sampling_params import StructuredOutputsParams

    return {"structured_outputs": StructuredOutputsParams(json=dict(request.schema))}
