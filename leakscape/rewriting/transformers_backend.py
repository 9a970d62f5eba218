"""Any causal language model that transformers can load, on one device.

Greedy decoding answers in batches. Sampling answers one request at a time, each from its own seed, so that an answer
does not depend on its company.
"""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from leakscape.models.formatting import generation_prompt
from leakscape.rewriting.backend import Answer, Finish, Request, final_text

if TYPE_CHECKING:
    import torch

    from leakscape.models.load import LoadedModel


class TransformersBackend:
    """Asks one loaded model.

    Args:
        loaded: the model with its tokenizer; its chat template is used where it has one.
        max_output_tokens: reasoning included.
        temperature: 0 for greedy decoding.
        batch_size: requests decoded together when decoding is greedy.
        effort: reasoning effort for chat templates that take one.
    """

    def __init__(
        self,
        loaded: "LoadedModel",
        *,
        max_output_tokens: int,
        temperature: float = 0.0,
        batch_size: int = 8,
        effort: str = "",
    ) -> None:
        self.model = loaded.name
        self._loaded = loaded
        self._max_output_tokens = max_output_tokens
        self._temperature = temperature
        self._batch_size = 1 if temperature > 0 else batch_size
        self._effort = effort

    def answers(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """See `Backend`. Requests of like length are decoded together."""
        by_length = sorted(requests, key=lambda request: (len(request.prompt), request.id))
        for start in range(0, len(by_length), self._batch_size):
            yield from self._decode(by_length[start : start + self._batch_size])

    def _decode(self, batch: Sequence[Request]) -> Iterator[Answer]:
        import torch

        started = time.monotonic()
        tokenizer: Any = self._loaded.tokenizer
        model: Any = self._loaded.model
        encoded = tokenizer(
            [generation_prompt(tokenizer, request.prompt, effort=self._effort) for request in batch],
            return_tensors="pt",
            padding=True,
            padding_side="left",
            add_special_tokens=not tokenizer.chat_template,
        ).to(model.device)
        sampling = {"temperature": self._temperature, "top_k": 0} if self._temperature > 0 else {}
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(batch[0].seed)
            outputs = model.generate(
                input_ids=encoded["input_ids"],
                attention_mask=encoded["attention_mask"],
                do_sample=self._temperature > 0,
                max_new_tokens=self._max_output_tokens,
                pad_token_id=tokenizer.pad_token_id,
                **sampling,
            )
        share = (time.monotonic() - started) / len(batch)
        prompt_length = encoded["input_ids"].shape[1]
        for row, request in enumerate(batch):
            yield self._answer(request, outputs[row, prompt_length:].tolist(), encoded["attention_mask"][row], share)

    def _answer(self, request: Request, ids: list[int], mask: "torch.Tensor", seconds: float) -> Answer:
        ends = self._end_ids()
        length = next((position for position, token in enumerate(ids) if token in ends), None)
        finish: Finish = "length" if length is None else "stop"
        kept = ids if length is None else ids[:length]
        return Answer(
            id=request.id,
            text=final_text(str(self._loaded.tokenizer.decode(kept, skip_special_tokens=False))),
            finish=finish,
            tokens_in=int(mask.sum()),
            tokens_out=len(kept),
            seconds=seconds,
        )

    def _end_ids(self) -> set[int]:
        model: Any = self._loaded.model
        configured = model.generation_config.eos_token_id
        ends = configured if isinstance(configured, list) else [configured]
        return {token for token in (*ends, self._loaded.tokenizer.eos_token_id) if token is not None}
