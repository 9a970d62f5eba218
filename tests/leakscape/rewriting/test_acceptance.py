import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.rewriting.acceptance import judge
from leakscape.rewriting.backend import Answer, final_text, request_seed


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        ("A 40-year-old woman takes lisinopril.", "stop", "accepted"),
        ("She said she cannot sleep. I'm sorry to hear it.", "stop", "accepted"),
        ("Sorry state of the left knee; takes ibuprofen.", "stop", "accepted"),
        ("A 40-year-old woman takes", "length", "truncated"),
        ("", "stop", "empty"),
        (" \n\t", "stop", "empty"),
        ("", "length", "truncated"),
        ("I'm sorry, but I can't help with that.", "stop", "refused"),
        ("I\u2019m sorry, I can\u2019t rewrite medical records.", "stop", "refused"),
        ("I cannot assist with this request.", "stop", "refused"),
        ("**Unfortunately, I am unable to do so.**", "stop", "refused"),
        ("As an AI, I must protect privacy.", "stop", "refused"),
        ("", "refusal", "refused"),
        ("text that came before the fault", "error", "failed"),
        ("half a character \ud83d", "stop", "failed"),
    ],
)
def test_what_an_answer_is_worth(text: str, finish: str, outcome: str) -> None:
    assert judge(Answer(id="a", text=text, finish=finish)) == outcome  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("plain", "plain"),
        ("<think>who is this?</think>\n\nA record.", "A record."),
        ("reasoning without its opening mark</think>A record.", "A record."),
        ("<think>reasoning that never ends", ""),
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>A record.<|return|>",
            "A record.",
        ),
        ("<|channel|>analysis<|message|>cut off in the middle", ""),
        ("A record.<|im_end|>", "A record."),
        ("A record.<|im_end|>\n<|endoftext|>", "A record."),
    ],
)
def test_reasoning_is_cut_away(text: str, kept: str) -> None:
    assert final_text(text) == kept


@given(st.integers(0, 2**31), st.text(), st.integers(1, 20))
def test_seeds_fit_31_bits_and_differ_by_attempt(seed: int, name: str, attempt: int) -> None:
    assert 0 <= request_seed(seed, name, attempt) < 2**31
    assert request_seed(seed, name, attempt) == request_seed(seed, name, attempt)


def test_seed_is_the_same_on_every_machine() -> None:
    # sha256("7|canary-001/3|rewrite|2") begins with the bytes that make this number when halved.
    assert request_seed(7, "canary-001/3|rewrite", 2) == 0x95201AEF >> 1
    assert len({request_seed(7, "canary-001/3|rewrite", attempt) for attempt in range(1, 100)}) == 99
