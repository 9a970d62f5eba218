"""Token classifiers at toy size: real architectures with random weights, and a stand-in whose answers are known."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForTokenClassification,
    OpenAIPrivacyFilterConfig,
    OpenAIPrivacyFilterForTokenClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from leakscape.deidentification.detector import Found
from leakscape.deidentification.token_classifier import CALIBRATION, TokenClassifier, load_classifier
from leakscape.deidentification.viterbi import Biases
from leakscape.errors import InputError

LABELS = ("O", "B-person", "I-person", "E-person", "S-person")
TEXT = "Patient: María O'Brien\nSSN: 999-80-9624\nStreet: 12 Elm Street 😀\n- Mabsartinib"


def byte_tokenizer(*, special: bool = False) -> PreTrainedTokenizerFast:
    """One token a byte, so that every character may need several; with BERT's frame on demand."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["[PAD]", "[CLS]", "[SEP]", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if special:
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    names = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


class CapitalsArePeople(torch.nn.Module):
    """Calls every run of capitals and the letters behind them a person, token by token; context plays no part."""

    device = torch.device("cpu")

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        super().__init__()
        self.config = SimpleNamespace(id2label=dict(enumerate(("O", "person"))), max_position_embeddings=None)
        self.capital = set(tokenizer.convert_tokens_to_ids(list("ABMOPS")))
        self.calls: list[tuple[int, int]] = []

    def forward(self, input_ids: torch.Tensor, **_: torch.Tensor) -> SimpleNamespace:
        self.calls.append(tuple(input_ids.shape))
        is_capital = torch.tensor([[int(number) in self.capital for number in row] for row in input_ids])
        return SimpleNamespace(logits=torch.stack([(~is_capital).float(), is_capital.float()], dim=-1) * 4)


def capitals(window: int, overlap: int = 0, batch_size: int = 4, *, special: bool = False) -> TokenClassifier:
    tokenizer = byte_tokenizer(special=special)
    return TokenClassifier(
        CapitalsArePeople(tokenizer), tokenizer, window=window, overlap=overlap, batch_size=batch_size
    )


def test_spans_are_code_points_of_the_text():
    found = capitals(1000).detect([TEXT])[0]
    assert [TEXT[each.start : each.end] for each in found] == ["P", "M", "O", "B", "SS", "S", "S", "M"]
    assert all(each.score == pytest.approx(0.982, abs=1e-3) for each in found)  # 1 / (1 + e ** -4)


@settings(deadline=None, max_examples=40)
@given(
    text=st.text("ABab 😀é\n", max_size=40),
    window=st.integers(3, 12),
    overlap=st.integers(0, 20),
    special=st.booleans(),
)
def test_windows_change_nothing_when_context_does_not_matter(text: str, window: int, overlap: int, special: bool):
    whole = capitals(1000, special=special).detect([text])
    assert capitals(window, overlap, special=special).detect([text]) == whole


@given(st.lists(st.sampled_from(["", " ", "2", "c", "A", TEXT, "AB a"]), max_size=7), st.integers(1, 5))
@settings(deadline=None, max_examples=30)
def test_each_text_is_looked_at_on_its_own(texts: list[str], batch_size: int):
    alone = [capitals(16, 4).detect([text])[0] for text in texts]
    assert capitals(16, 4, batch_size).detect(texts) == alone


def test_windows_of_like_length_share_a_batch():
    detector = capitals(100, batch_size=2)
    detector.detect(["a" * 50, "b", "a" * 49, "c"])
    assert detector._model.calls == [(2, 1), (2, 50)]


def toy_filter() -> OpenAIPrivacyFilterForTokenClassification:
    torch.manual_seed(0)
    config = OpenAIPrivacyFilterConfig(
        vocab_size=300,
        hidden_size=32,
        intermediate_size=16,
        num_hidden_layers=2,
        num_local_experts=4,
        num_experts_per_tok=2,
        head_dim=8,
        num_attention_heads=4,
        num_key_value_heads=2,
        sliding_window=8,
        max_position_embeddings=512,
        pad_token_id=0,
        eos_token_id=0,
        initializer_range=0.5,
    )
    return OpenAIPrivacyFilterForTokenClassification(config).eval()


def toy_bert() -> BertForTokenClassification:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=300,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=40,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
        initializer_range=0.5,
    )
    return BertForTokenClassification(config).eval()


def rounded(found: list[list[Found]]) -> list[list[tuple[int, int, str, float]]]:
    return [[(each.start, each.end, each.label, round(each.score, 4)) for each in text] for text in found]


@pytest.mark.parametrize("build", [toy_filter, toy_bert])
def test_real_architectures_give_the_same_in_any_batch(build: Callable[[], PreTrainedModel]):
    model, tokenizer = build(), byte_tokenizer(special=build is toy_bert)
    texts = [TEXT, "", "x", TEXT[:30], "SSN: 999-80-9624"]
    alone = [TokenClassifier(model, tokenizer, batch_size=1).detect([text])[0] for text in texts]
    assert rounded(TokenClassifier(model, tokenizer, batch_size=3).detect(texts)) == rounded(alone)
    assert alone[0]
    assert alone[1] == []
    assert all(0 <= each.start < each.end <= len(TEXT) and 0 < each.score <= 1 for each in alone[0])


def test_a_window_that_holds_the_text_is_no_window():
    model, tokenizer = toy_filter(), byte_tokenizer()
    length = len(tokenizer(TEXT)["input_ids"])
    fits, more = (TokenClassifier(model, tokenizer, window=size, overlap=8) for size in (length, 500))
    assert fits.detect([TEXT]) == more.detect([TEXT])


def test_a_models_own_limit_holds():
    detector = TokenClassifier(toy_bert(), byte_tokenizer(special=True), window=1024, overlap=8)
    assert detector.detect(["A" * 500])[0][-1].end <= 500  # 40 positions: the model would fail on more


def test_a_saved_filter_is_loaded_with_its_published_biases(tmp_path: Path):
    toy_filter().save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    plain = load_classifier(str(tmp_path), device="cpu").detect([TEXT])[0]
    eager = {f"transition_bias_{name}": 0.0 for name in Biases.__dataclass_fields__}
    eager |= {"transition_bias_background_stay": 50.0, "transition_bias_end_to_start": -50.0}
    (tmp_path / CALIBRATION).write_text(json.dumps({"operating_points": {"default": {"biases": eager}}}))
    biased = load_classifier(str(tmp_path), device="cpu").detect([TEXT])[0]
    assert len(biased) < len(plain)
    (tmp_path / CALIBRATION).write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        load_classifier(str(tmp_path), device="cpu")


def test_what_is_no_token_classifier_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="can't be loaded"):
        load_classifier(str(tmp_path / "missing"), device="cpu")
    toy_bert().bert.save_pretrained(tmp_path)
    byte_tokenizer(special=True).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="would be random"):
        load_classifier(str(tmp_path), device="cpu")


def test_a_tokenizer_without_offsets_is_refused():
    with pytest.raises(InputError, match="fast tokenizer"):
        TokenClassifier(toy_bert(), SimpleNamespace(is_fast=False))


def test_a_window_too_small_for_a_text_is_refused():
    with pytest.raises(InputError, match="no room"):
        capitals(2, special=True)
