"""The openai client against a real server process that misbehaves on order."""

from collections.abc import Iterator

import misbehaving_server
import pytest
from misbehaving_server import Client, retold

from leakscape.errors import InputError
from leakscape.rewriting.backend import Answer, Request
from leakscape.rewriting.openai_backend import Endpoint, OpenAIBackend


@pytest.fixture(scope="module")
def server() -> Iterator[Client]:
    with misbehaving_server.running() as client:
        yield client


def request(number: int) -> Request:
    return Request(
        id=f"train-{number}|rewrite", prompt=f"Do it.\n\nrecord {number}\n\nRewrite:", source="", seed=number
    )


def ask(server: Client, *, count: int = 1, **settings: object) -> list[Answer]:
    chosen = {"model": "toy", "base_url": server.base_url, "timeout": 5.0, "retries": 2} | settings
    backend = OpenAIBackend(Endpoint(**chosen))  # type: ignore[arg-type]
    return list(backend.answers([request(number) for number in range(count)]))


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_every_request_is_answered_once_under_its_own_id(server: Client, api: str) -> None:
    server.order()
    answers = ask(server, count=40, concurrency=8, api=api)
    assert {answer.id: answer.text for answer in answers} == {
        request(number).id: retold(request(number).prompt) for number in range(40)
    }
    assert len(answers) == 40
    assert {(answer.finish, answer.tokens_in, answer.tokens_out) for answer in answers} == {("stop", 11, 7)}


@pytest.mark.parametrize("fault", ["429", "500", "503", "408", "half-closed"])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_passing_fault_is_tried_again(server: Client, fault: str, api: str) -> None:
    server.order(fault)
    answers = ask(server, api=api)
    assert [answer.finish for answer in answers] == ["stop"]
    assert [entry["fault"] for entry in server.requests()] == [fault, ""]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("429", "RateLimitError"), ("500", "InternalServerError"), ("half-closed", "APIConnectionError")],
)
def test_a_fault_that_stays_is_one_failed_answer(server: Client, fault: str, reason: str) -> None:
    server.order(*[fault] * 2)
    assert [(answer.finish, answer.reason) for answer in ask(server, retries=1)] == [("error", reason)]


def test_a_service_that_hangs_is_given_up(server: Client) -> None:
    server.order("hang")
    assert [(answer.finish, answer.reason) for answer in ask(server, retries=0, timeout=0.2)] == [
        ("error", "APITimeoutError")
    ]


@pytest.mark.parametrize(
    ("api", "fault", "finish"),
    [
        ("chat", "truncated", "length"),
        ("chat", "refusal", "refusal"),
        ("chat", "filtered", "refusal"),
        ("chat", "no choice", "error"),
        ("responses", "truncated", "length"),
        ("responses", "refusal", "refusal"),
        ("responses", "filtered", "refusal"),
    ],
)
def test_how_an_answer_ended_is_told(server: Client, api: str, fault: str, finish: str) -> None:
    server.order(fault)
    assert [answer.finish for answer in ask(server, api=api)] == [finish]


def test_a_body_that_is_no_json_is_a_failed_answer(server: Client) -> None:
    server.order("not json")
    assert [answer.finish for answer in ask(server, retries=0)] == ["error"]


@pytest.mark.parametrize("status", ["401", "403", "404"])
def test_what_no_retry_can_help_stops_at_once(server: Client, status: str) -> None:
    server.order(status)
    with pytest.raises(InputError, match=f"answered {status} for model toy"):
        ask(server)
    assert len(server.requests()) == 1


def test_settings_reach_the_service_only_where_they_are_given(server: Client) -> None:
    server.order()
    ask(server, effort="low", temperature=0.5, max_output_tokens=99)
    ask(server)
    ask(server, api="responses", effort="high")
    given, plain, responses = server.requests()
    assert (given["reasoning_effort"], given["temperature"], given["max_completion_tokens"]) == ("low", 0.5, 99)
    assert given["seed"] == 0
    assert "reasoning_effort" not in plain
    assert "temperature" not in plain
    assert responses["reasoning"] == {"effort": "high"}
    assert responses["store"] is False


def test_a_schema_reaches_the_service_in_the_words_of_each_interface(server: Client) -> None:
    server.order()
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    asked = Request(id="a", prompt="Do it.\n\nrecord\n\nJudgement:", source="", seed=1, schema=schema)
    for api in ("chat", "responses"):
        endpoint = Endpoint(model="toy", base_url=server.base_url, timeout=5.0, api=api)  # type: ignore[arg-type]
        assert [answer.finish for answer in OpenAIBackend(endpoint).answers([asked])] == ["stop"]
    chat, responses = server.requests()
    described = {"name": "answer", "strict": True, "schema": schema}
    assert chat["response_format"] == {"type": "json_schema", "json_schema": described}
    assert responses["text"] == {"format": {"type": "json_schema", **described}}
