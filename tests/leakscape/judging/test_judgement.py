import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.judging.judgement import REASONS, SCHEMA, Scores, accept, read
from leakscape.rewriting.backend import Answer

GOOD = '{"privacy": 4, "quality": 5, "reason": "combination"}'


@pytest.mark.parametrize("text", [GOOD, f"\n {GOOD} ", f"```json\n{GOOD}\n```", f"```\n{GOOD}\n```"])
def test_an_answer_that_fits_is_read(text: str) -> None:
    assert read(text) == Scores(4, 5, "combination")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "4",
        "null",
        "[" * 100_000,
        GOOD[:-1],
        GOOD + GOOD,
        f"Here it is: {GOOD}",
        f"[{GOOD}]",
        '{"privacy": 4, "quality": 5}',
        '{"privacy": 4, "quality": 5, "reason": "none", "note": "x"}',
        '{"privacy": 4, "privacy": 1, "quality": 5, "reason": "none"}',
        '{"privacy": 0, "quality": 5, "reason": "none"}',
        '{"privacy": 6, "quality": 5, "reason": "none"}',
        '{"privacy": 4.0, "quality": 5, "reason": "none"}',
        '{"privacy": true, "quality": 5, "reason": "none"}',
        '{"privacy": "4", "quality": 5, "reason": "none"}',
        '{"privacy": NaN, "quality": 5, "reason": "none"}',
        '{"privacy": 4, "quality": 5, "reason": "because"}',
        '{"privacy": 4, "quality": 5, "reason": null}',
        '{"privacy": 4, "quality": 5, "reason": ["none"]}',
        '{"privacy": 4, "quality": 5, "reason": {"none": 1}}',
    ],
)
def test_an_answer_that_does_not_fit_is_none(text: str) -> None:
    assert read(text) is None


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    assert read(text) is None


@given(st.integers(-3, 9), st.integers(-3, 9), st.sampled_from([*REASONS, "other"]))
def test_the_reader_and_the_schema_agree(privacy: int, quality: int, reason: str) -> None:
    text = json.dumps({"privacy": privacy, "quality": quality, "reason": reason})
    allowed = {name: rule["enum"] for name, rule in SCHEMA["properties"].items()}
    fits = privacy in allowed["privacy"] and quality in allowed["quality"] and reason in allowed["reason"]
    assert (read(text) is not None) is fits


def test_outcomes_of_rewriting_go_before_invalid() -> None:
    def outcome(text: str, finish: str = "stop") -> str:
        return accept(Answer(id="a", text=text, finish=finish))  # type: ignore[arg-type]

    assert [outcome(GOOD), outcome("five of five"), outcome(""), outcome(GOOD[:9], "length")] == [
        "accepted",
        "invalid",
        "empty",
        "truncated",
    ]
    assert outcome("I'm sorry, but I can't help with that.") == "refused"
