"""What a rewriter or a judge must offer: requests in, answers by id out."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

# What is left of special tokens at the end of a text, such as <|im_end|>.
_END_MARKS = re.compile(r"(?:\s*<\|[a-z_]+\|>)+\s*\Z")

Finish = Literal["stop", "length", "refusal", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call to a model.

    Args:
        id: names the answer; holds nothing of the record but its id.
        prompt: what the model reads.
        source: the text to rewrite, as it stands in `prompt`, for backends that follow rules instead of prompts.
        seed: drives sampling where the backend allows it; independent of the requests around it.
        schema: a JSON schema that the answer has to fit, for backends that can hold a model to one; None for text.
    """

    id: str
    prompt: str
    source: str
    seed: int
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back for one request.

    Args:
        id: the request's.
        text: the answer without reasoning.
        finish: `stop` if the model ended by itself, `length` if it was cut off, `refusal` if the service or the
            model declined, `error` if no answer could be had after all retries.
        tokens_in, tokens_out: as the backend counts them, reasoning included.
        reason: for `error`, the kind of failure; never a value of a record.
        seconds: how long the call took; for a batch, its share of the batch.
    """

    id: str
    text: str
    finish: Finish
    tokens_in: int = 0
    tokens_out: int = 0
    reason: str = ""
    seconds: float = 0.0


class Backend(Protocol):
    """Whoever answers. Answers may come in any order; each as soon as it is known."""

    model: str

    def answers(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Answer every request once.

        Raises:
            InputError: the service refuses us (credentials, an unknown model): no retry will help.
            TransientError: the service is away altogether.
        """
        ...


def request_seed(seed: int, request_id: str, attempt: int) -> int:
    """A seed of 31 bits for one attempt at one request, the same on every machine and in any batch."""
    text = f"{seed}|{request_id}|{attempt}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 1


def final_text(text: str) -> str:
    """Cut a model's reasoning away: gpt-oss's channels, and `<think>` blocks.

    A reasoning that never ended leaves nothing: such an answer counts as empty.
    """
    if "<|channel|>" in text:
        _, found, text = text.rpartition("<|channel|>final<|message|>")
        text = text if found else ""
        for end in ("<|return|>", "<|end|>"):
            text = text.partition(end)[0]
    if "<think>" in text or "</think>" in text:
        text = text.rpartition("</think>")[2] if "</think>" in text else ""
    return _END_MARKS.sub("", text).strip()
