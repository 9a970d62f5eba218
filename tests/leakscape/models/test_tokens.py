import pytest
import toys
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import InputError
from leakscape.models.formatting import training_text
from leakscape.models.load import assemble
from leakscape.models.tokens import tokenise, tokenizer_hash


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_exactly_one_bos_where_the_model_has_one(architecture: str):
    tokenizer = toys.toy_tokenizer(architecture)
    tokens = tokenise(tokenizer, "Patient: X")
    assert tokens.ids[0] == tokenizer.bos_token_id
    assert tokens.ids.count(tokenizer.bos_token_id) == 1
    assert tokens.offsets[0] == (0, 0)


def test_no_bos_where_the_model_has_none():
    tokens = tokenise(toys.toy_tokenizer("qwen3_5"), "Patient: X")
    assert tokens.offsets[0][1] > 0


def test_a_template_that_begins_with_the_bos_gets_no_second_one():
    tokenizer = toys.toy_tokenizer("llama")
    tokens = tokenise(tokenizer, "<s>user: hi", chat=True)
    assert tokens.ids.count(tokenizer.bos_token_id) == 1
    assert tokens.ids[0] == tokenizer.bos_token_id


def test_a_template_without_the_bos_gets_the_one_the_tokenizer_adds():
    tokenizer = toys.toy_tokenizer("llama")
    assert tokenise(tokenizer, "user: hi", chat=True).ids[0] == tokenizer.bos_token_id


def test_a_chat_format_without_a_bos_stays_without():
    loaded = assemble(*toys.toy("gpt_oss"), name="toy")
    tokens = tokenise(loaded.tokenizer, training_text(loaded, "x").text, chat=True)
    assert loaded.tokenizer.bos_token_id not in tokens.ids
    assert tokens.ids[0] == loaded.tokenizer.convert_tokens_to_ids("<|start|>")


@pytest.mark.parametrize("text", ["<s>Patient", "Patient <s>", "<s><s>"])
def test_a_record_that_holds_the_bos_is_refused(text: str):
    with pytest.raises(InputError, match="BOS"):
        tokenise(toys.toy_tokenizer("llama"), text)


@pytest.mark.parametrize("architecture", ["llama", "qwen3_5"])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_offsets_cover_the_text(architecture: str, text: str):
    tokens = tokenise(toys.toy_tokenizer(architecture), text)
    covered = {at for start, end in tokens.offsets for at in range(start, end)}
    assert covered == set(range(len(text)))


def test_an_empty_text_is_the_bos_alone():
    assert len(tokenise(toys.toy_tokenizer("llama"), "").ids) == 1
    assert tokenise(toys.toy_tokenizer("qwen3_5"), "").ids == ()


def test_the_hash_tells_tokenizers_apart_and_ignores_the_last_call():
    tokenizer = toys.toy_tokenizer("llama")
    before = tokenizer_hash(tokenizer)
    tokenizer("long text here", truncation=True, max_length=2)
    assert tokenizer_hash(tokenizer) == before
    assert len({tokenizer_hash(toys.toy_tokenizer(name)) for name in toys.ARCHITECTURES}) == 4
    tokenizer.chat_template = "{{ messages }}"
    assert tokenizer_hash(tokenizer) != before
