"""Any OpenAI-compatible endpoint, through the openai client: chat completions or responses.

The client itself retries 408, 409, 429 and 5xx with jitter and honours Retry-After. What is still an error then is
one answer's failure, unless no retry could ever help (credentials, an unknown model).
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from leakscape.errors import InputError
from leakscape.rewriting.backend import Answer, Finish, Request, final_text


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """How to reach and ask a service.

    Args:
        model: the model's name at the service.
        base_url: '' for the client's own default (`OPENAI_BASE_URL`, else OpenAI).
        api: `chat` or `responses`.
        key: the credential; never logged.
        effort: reasoning effort, '' to leave it to the service.
        temperature: below 0 to leave it to the service (some reasoning models refuse one).
        max_output_tokens: reasoning included.
        concurrency: requests under way at once.
        timeout: seconds for one call.
        retries: how often the client tries again by itself.
    """

    model: str
    base_url: str = ""
    api: Literal["chat", "responses"] = "chat"
    key: str = "unset"
    effort: str = ""
    temperature: float = -1.0
    max_output_tokens: int = 4096
    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 6


class OpenAIBackend:
    """Asks one endpoint, several requests at once."""

    def __init__(self, endpoint: Endpoint) -> None:
        from openai import OpenAI

        self.model = endpoint.model
        self._endpoint = endpoint
        self._client: OpenAI = OpenAI(
            api_key=endpoint.key,
            base_url=endpoint.base_url or None,
            timeout=endpoint.timeout,
            max_retries=endpoint.retries,
        )

    def answers(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """See `Backend`. Answers come as they are ready.

        A request is sent only when an answer before it was taken: however slow a ledger is, a kill loses no more
        answers than are under way at once.

        Raises:
            InputError: the service refuses our credentials, or does not know the model or the endpoint.
        """
        pool = ThreadPoolExecutor(max_workers=self._endpoint.concurrency)
        waiting = iter(requests)
        try:
            pending = {pool.submit(self._answer, request) for request in islice(waiting, self._endpoint.concurrency)}
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                    pending |= {pool.submit(self._answer, request) for request in islice(waiting, 1)}
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _answer(self, request: Request) -> Answer:
        import openai

        started = time.monotonic()
        try:
            text, finish, usage = self._chat(request) if self._endpoint.api == "chat" else self._responses(request)
        except (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError) as error:
            raise InputError(
                f"the service answered {error.status_code} for model {self.model}: "
                "check the model's name, --base-url and the credential."
            ) from None
        except (openai.APIError, ValueError) as error:
            # ValueError: a body that is no JSON. The message may quote the request, so only its kind is kept.
            seconds = time.monotonic() - started
            return Answer(id=request.id, text="", finish="error", reason=type(error).__name__, seconds=seconds)
        return Answer(
            id=request.id,
            text=final_text(text),
            finish=finish,
            tokens_in=usage[0],
            tokens_out=usage[1],
            seconds=time.monotonic() - started,
        )

    def _chat(self, request: Request) -> tuple[str, Finish, tuple[int, int]]:
        answer = self._client.chat.completions.create(
            model=self.model,
            messages=[{"role": "user", "content": request.prompt}],
            seed=request.seed,
            max_completion_tokens=self._endpoint.max_output_tokens,
            **self._optional(effort_key="reasoning_effort", effort=self._endpoint.effort),
            **_structured(request, chat=True),
        )
        usage = (answer.usage.prompt_tokens, answer.usage.completion_tokens) if answer.usage else (0, 0)
        if not answer.choices:
            return "", "error", usage
        choice = answer.choices[0]
        if choice.message.refusal or choice.finish_reason == "content_filter":
            return "", "refusal", usage
        finish: Finish = "stop" if choice.finish_reason == "stop" else "length"
        return choice.message.content or "", finish, usage

    def _responses(self, request: Request) -> tuple[str, Finish, tuple[int, int]]:
        answer = self._client.responses.create(
            model=self.model,
            input=request.prompt,
            max_output_tokens=self._endpoint.max_output_tokens,
            store=False,
            **self._optional(effort_key="reasoning", effort={"effort": self._endpoint.effort}),
            **_structured(request, chat=False),
        )
        usage = (answer.usage.input_tokens, answer.usage.output_tokens) if answer.usage else (0, 0)
        parts = [part for item in answer.output if item.type == "message" for part in item.content]
        if any(part.type == "refusal" for part in parts):
            return "", "refusal", usage
        if answer.status == "completed":
            return answer.output_text, "stop", usage
        filtered = answer.incomplete_details is not None and answer.incomplete_details.reason == "content_filter"
        cut_off: Finish = "length" if answer.status == "incomplete" else "error"
        return "", "refusal" if filtered else cut_off, usage

    def _optional(self, *, effort_key: str, effort: object) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if self._endpoint.effort:
            given[effort_key] = effort
        if self._endpoint.temperature >= 0:
            given["temperature"] = self._endpoint.temperature
        return given


def _structured(request: Request, *, chat: bool) -> dict[str, Any]:
    """Ask for an answer that fits the request's schema, in the words of each interface."""
    if request.schema is None:
        return {}
    described = {"name": "answer", "strict": True, "schema": dict(request.schema)}
    if chat:
        return {"response_format": {"type": "json_schema", "json_schema": described}}
    return {"text": {"format": {"type": "json_schema", **described}}}
