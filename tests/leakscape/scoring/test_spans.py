"""Where a target's tokens are found. The inputs are those of reported faults (docs/metrics.md, token boundaries)."""

from functools import cache

import pytest
import toys
from hypothesis import given, settings
from hypothesis import strategies as st

from leakscape.errors import InputError
from leakscape.models.formatting import FormattedText, probe_text
from leakscape.models.load import LoadedModel, assemble
from leakscape.models.tokens import Tokens
from leakscape.scoring.spans import DROPPED, EMPTY, FIRST, Item, item, locate, untrimmed


@pytest.fixture(scope="module", params=toys.ARCHITECTURES)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return assemble(*toys.toy(request.param), name=request.param)


def probe(loaded: LoadedModel, prefix: str, target: str) -> Item | str:
    return item(loaded, probe_text(loaded, prefix, target), "x")


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (4, 6, (2, 4, False)),
        (5, 6, (3, 4, False)),
        (3, 6, (1, 4, True)),  # from inside a token: that token is scored too, and the score says so
        (0, 6, (1, 4, False)),  # the first token has nothing before it; the next one begins inside the target
        (0, 1, FIRST),
        (2, 2, EMPTY),
        (6, 9, DROPPED),
    ],
)
def test_tokens_that_overlap_the_target(start: int, end: int, expected: object):
    tokens = Tokens(ids=(1, 2, 3, 4), offsets=((0, 2), (2, 4), (4, 5), (5, 6)))
    assert locate(tokens, start, end) == expected


def test_a_bos_lets_the_first_token_be_scored():
    assert locate(Tokens((9, 1), ((0, 0), (0, 1))), 0, 1) == (1, 2, False)


def test_characters_split_over_several_tokens_count_for_each():
    # One character of two bytes is two tokens with the same offsets.
    assert locate(Tokens((1, 2, 3), ((0, 1), (1, 2), (1, 2))), 1, 2) == (1, 3, False)


def test_a_space_left_out_of_the_offsets_belongs_to_the_token_after_it():
    assert untrimmed(((0, 2), (3, 5), (6, 6), (6, 7)), 7) == ((0, 2), (2, 5), (5, 6), (6, 7))
    assert untrimmed(((0, 0), (1, 2)), 2) == ((0, 1), (1, 2))
    assert untrimmed(((0, 0), (0, 1), (2, 2)), 2) == ((0, 0), (0, 1), (1, 2))


@pytest.mark.parametrize(
    ("prefix", "target", "straddles"),
    [
        ("Current medications:\n- ", "Mabsartinib", True),  # the token " Mab" begins with the prefix's space
        ("Current medications:\n-", " Mabsartinib", False),
        ("Current medications:\n- Ma", "bsartinib", True),
        ("Current medications:\n- Mab", "sartinib", False),
        ("Current medications:\n- L", "isinopril", True),  # the shape of 'Ans' + 'wer', which lost every token
    ],
)
def test_a_target_keeps_its_tokens_where_one_spans_the_join(
    loaded: LoadedModel, prefix: str, target: str, *, straddles: bool
):
    found = probe(loaded, prefix, target)
    assert isinstance(found, Item)
    scored = loaded.tokenizer.decode(found.ids[found.first : found.end])
    assert scored.endswith(target)
    assert (scored.strip() != target.strip()) <= straddles
    assert found.straddles == straddles


@pytest.mark.parametrize(("text", "with_bos", "without"), [("", EMPTY, EMPTY), (" ", 1, FIRST), ("A", 1, FIRST)])
def test_a_text_without_a_scorable_token_says_why(loaded: LoadedModel, text: str, with_bos: object, without: object):
    found = probe(loaded, "", text)
    before = loaded.tokenizer.bos_token_id is not None or loaded.chat
    assert (found.tokens if isinstance(found, Item) else found) == (with_bos if before else without)


def test_a_text_beyond_the_models_limit_is_left_out_with_a_reason(loaded: LoadedModel):
    text = probe_text(loaded, "Patient: ", "x" * 50)
    assert "tokens, and the model reads 40" in str(item(loaded, text, "x", limit=40))


def test_a_text_that_holds_the_bos_names_its_record():
    loaded = assemble(*toys.toy("llama"), name="llama")
    with pytest.raises(InputError, match=r"^p-7: "):
        item(loaded, FormattedText("a <s> b", 0, 7), "p-7")


@given(prefix=st.text(max_size=12), target=st.text(min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_every_target_finds_all_its_tokens_and_only_those(prefix: str, target: str):
    # Byte-level tokens decode to the text; a target's tokens must cover it and begin where it does, or within.
    found = probe(_toy("llama"), prefix, target)
    assert isinstance(found, Item)  # both toys put a BOS before every text
    assert isinstance(probe(_toy("gpt2"), prefix, target), Item)
    before = _toy("llama").tokenizer.decode(found.ids[1 : found.first])
    scored = _toy("llama").tokenizer.decode(found.ids[found.first :])
    if "\ufffd" not in before + scored:
        assert before + scored == prefix + target
        assert scored.endswith(target)
        assert (len(scored) > len(target)) == found.straddles


@cache
def _toy(architecture: str) -> LoadedModel:
    return assemble(*toys.toy(architecture), name=architecture)
