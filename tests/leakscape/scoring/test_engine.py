"""Batched scores against a loop that feeds one text at a time and reads the probabilities off by hand."""

import math
import warnings
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
import torch
import toys

from leakscape.errors import InputError, LeakscapeError
from leakscape.models.formatting import probe_text
from leakscape.models.load import LoadedModel, assemble
from leakscape.scoring import engine
from leakscape.scoring.engine import Score, gather, score
from leakscape.scoring.spans import Item, item

RECORD = "Patient: María\nMedications:\n- "
TEXTS = [
    *((RECORD + "Lisinopril\n- " * (number % 5), "Mabsartinib" * (1 + number % 2)) for number in range(7)),
    ("", RECORD + "Mabsartinib"),  # a whole record
    (RECORD, "Mabsartinib"),  # the same text, another target
    ("", "Ab"),
]


@pytest.fixture(scope="module", params=toys.ARCHITECTURES)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return assemble(*toys.toy(request.param), name=request.param)


def items_of(loaded: LoadedModel, texts: Sequence[tuple[str, str]]) -> list[Item]:
    found = [item(loaded, probe_text(loaded, *text), str(number)) for number, text in enumerate(texts)]
    return [each for each in found if isinstance(each, Item)]


def brute_force(model: torch.nn.Module, scored: Item) -> list[float]:
    """p(token t) from the tokens before it alone, a forward pass for each token."""
    values = []
    for place in range(scored.first, scored.end):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([scored.ids[:place]])).logits[0, -1]
        values.append(math.log(torch.softmax(logits.double(), dim=-1)[scored.ids[place]].item()))
    return values


@pytest.fixture(scope="module")
def expected(loaded: LoadedModel) -> list[list[float]]:
    return [brute_force(loaded.model, each) for each in items_of(loaded, TEXTS)]


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_batches_equal_the_loop(loaded: LoadedModel, expected: list[list[float]], batch_size: int):
    scores = score(loaded.model, items_of(loaded, TEXTS), batch_size=batch_size)
    assert len(scores) == len(TEXTS)
    for got, values in zip(scores, expected, strict=True):
        assert got.token_log_likelihoods == pytest.approx(values, abs=1e-4)
        assert got.log_likelihood == pytest.approx(sum(values), abs=1e-4)
        assert got.tokens == len(values)


def test_the_toys_look_at_more_than_the_last_token(loaded: LoadedModel):
    # Otherwise the comparison with the loop could not tell a wrong mask or position.
    first, second = items_of(loaded, [("aa bb cc\n- ", "Mabsartinib"), ("xx yy zz\n- ", "Mabsartinib")])
    assert brute_force(loaded.model, first) != pytest.approx(brute_force(loaded.model, second), abs=1e-3)


def test_a_small_memory_budget_splits_batches_and_changes_nothing(
    loaded: LoadedModel, expected: list[list[float]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engine, "LOGITS", 20_000)
    monkeypatch.setattr(engine, "_ROWS", 1_000)
    scores = score(loaded.model, items_of(loaded, TEXTS), batch_size=64)
    for got, values in zip(scores, expected, strict=True):
        assert got.token_log_likelihoods == pytest.approx(values, abs=1e-4)


class Known(torch.nn.Module):
    """Four tokens; after token i the next one is i + 1 with probability 0.7 and each other one with 0.1."""

    def __init__(self, *, nan: bool = False) -> None:
        super().__init__()
        table = torch.full((4, 4), math.nan if nan else 0.1)
        table[torch.arange(4), (torch.arange(4) + 1) % 4] = 0.7
        self.table = torch.nn.Parameter(table.log())
        self.config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(vocab_size=4))
        self.device = torch.device("cpu")

    def forward(self, input_ids: torch.Tensor, **_: object) -> SimpleNamespace:
        return SimpleNamespace(logits=self.table[input_ids])


def test_known_probabilities_and_a_model_that_gives_all_logits():
    texts = [Item("a", (0, 1, 2, 0), 1, 4), Item("b", (3, 3), 1, 2)]
    first, second = score(Known(), texts, batch_size=2)  # type: ignore[arg-type]
    assert first.token_log_likelihoods == pytest.approx([math.log(0.7), math.log(0.7), math.log(0.1)])
    assert second.token_log_likelihoods == pytest.approx([math.log(0.1)])


def test_no_items_no_scores():
    assert score(Known(), [], batch_size=2) == []  # type: ignore[arg-type]


def test_a_model_that_gives_no_number_is_named_by_the_item():
    with pytest.raises(LeakscapeError, match=r"^canary-001: the model gives no finite probability"):
        score(Known(nan=True), [Item("canary-001", (0, 2), 1, 2)], batch_size=1)  # type: ignore[arg-type]


def test_memory_that_runs_out_is_the_batch_sizes_fault(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(Known, "forward", fail)
    with pytest.raises(InputError, match="lower the batch size"):
        score(Known(), [Item("a", (0, 2), 1, 2)], batch_size=1)  # type: ignore[arg-type]


def test_log_softmax_is_taken_in_float32():
    # Figures of optax#1020's kind: over 150,000 bfloat16 logits a bfloat16 softmax steps by 1/8 nat in the tail.
    generator = torch.Generator().manual_seed(0)
    logits = (torch.randn(3, 150_000, generator=generator) * 3).bfloat16()
    targets = logits.argmin(dim=-1)
    exact = torch.log_softmax(logits.double(), dim=-1)[torch.arange(3), targets]
    assert gather(logits, targets) == pytest.approx(exact.tolist(), abs=1e-4)
    assert torch.log_softmax(logits, dim=-1)[torch.arange(3), targets].tolist() != pytest.approx(
        exact.tolist(), abs=1e-2
    )


def test_the_models_mode_comes_back_and_dropout_stays_out():
    model, tokenizer = toys.toy("gpt2")
    model.transformer.drop.p = 0.5
    loaded = assemble(model, tokenizer, name="gpt2")
    items = items_of(loaded, TEXTS[:2])
    calm = score(model, items, batch_size=2)
    model.train()
    assert score(model, items, batch_size=2) == calm
    assert model.training


def test_adapters_count_and_only_scored_positions_make_logits():
    peft = pytest.importorskip("peft")
    model, tokenizer = toys.toy("llama")
    loaded = assemble(model, tokenizer, name="llama")
    items = items_of(loaded, TEXTS[:3])
    before = score(loaded.model, items, batch_size=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by a name of yesterday
        adapted = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules="all-linear", init_lora_weights=False))
    seen: list[tuple[int, ...]] = []
    model.lm_head.register_forward_hook(lambda *call: seen.append(tuple(call[2].shape)))
    after = score(adapted, items, batch_size=3)
    low, high = min(each.first for each in items), max(each.end for each in items)
    assert seen == [(3, high - low, len(tokenizer))]
    for got, each in zip(after, items, strict=True):
        assert got.token_log_likelihoods == pytest.approx(brute_force(adapted, each), abs=1e-4)
    assert [each.log_likelihood for each in after] != pytest.approx([each.log_likelihood for each in before], abs=1e-3)


def test_a_score_sums_its_tokens():
    assert Score((-1.0, -0.5)).log_likelihood == -1.5
