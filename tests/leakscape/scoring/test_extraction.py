"""Continuations against one text at a time without padding or cache, hits by hand, and samples against probability."""

import math
import random
from bisect import bisect_right
from itertools import accumulate

import pytest
import torch
import toys

from leakscape.models.formatting import probe_text
from leakscape.models.load import LoadedModel, assemble
from leakscape.scoring.engine import score
from leakscape.scoring.extraction import continuations, extract, similarity
from leakscape.scoring.spans import Item, item

RECORD = "Patient: María O'Brien\nSSN: 912-45-6789\nCurrent medications:\n- "
SECRETS = ("Mabsartinib", "Lisinopril", "Ab", "Qoxavirumab", "Mabsartinib", "Zetafenib")


@pytest.fixture(scope="module", params=toys.ARCHITECTURES)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return assemble(*toys.toy(request.param), name=request.param)


def items_of(loaded: LoadedModel) -> list[Item]:
    # Prefixes of 1 to 4 lines' difference in length, longer than gpt-oss's sliding window, all padded but one.
    texts = [(RECORD + "Lisinopril 10 MG\n- " * (number % 4), secret) for number, secret in enumerate(SECRETS)]
    found = [item(loaded, probe_text(loaded, *text), f"canary-{number}") for number, text in enumerate(texts)]
    return [each for each in found if isinstance(each, Item)]


def alone(model: torch.nn.Module, one: Item, draw: random.Random | None) -> list[int]:
    """A whole forward pass for each token, no padding, no cache."""
    ids = list(one.ids[: one.first])
    for _ in range(one.tokens):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids])).logits[0, -1].double()
        if draw is None:
            ids.append(int(logits.argmax()))
            continue
        ids.append(bisect_right(list(accumulate(torch.softmax(logits, dim=-1).tolist())), draw.random()))
    return ids[one.first :]


def test_batches_equal_one_text_at_a_time(loaded: LoadedModel):
    items = items_of(loaded)
    with torch.no_grad():
        rows = continuations(loaded.model, items, samples=2, seed=5)
    assert len(rows) == 3 * len(items)
    for place, row in enumerate(rows):
        one, number = items[place // 3], place % 3
        draw = random.Random(f"leakscape/extraction/1/5/{one.id}/{number}") if number else None
        assert row == alone(loaded.model, one, draw), (one.id, number)


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_batch_size_changes_nothing(loaded: LoadedModel, batch_size: int):
    whole = extract(loaded.model, loaded.tokenizer, items_of(loaded), samples=2, batch_size=100, seed=1)
    found = extract(loaded.model, loaded.tokenizer, items_of(loaded), samples=2, batch_size=batch_size, seed=1)
    assert found == whole
    assert [(each.id, each.number) for each in found] == [
        (f"canary-{canary}", number) for canary in range(len(SECRETS)) for number in range(3)
    ]


def learnt(loaded: LoadedModel, one: Item, steps: int) -> None:
    """Overfit a toy on one text, so that it knows the secret."""
    ids = torch.tensor([one.ids])
    optimizer = torch.optim.AdamW(loaded.model.parameters(), lr=1e-2, weight_decay=0)
    for _ in range(steps):
        loss = loaded.model(input_ids=ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_a_learnt_secret_is_extracted_and_others_are_not(architecture: str):
    loaded = assemble(*toys.toy(architecture), name=architecture)
    known, other = items_of(loaded)[0], items_of(loaded)[3]
    learnt(loaded, known, 60)
    found = extract(loaded.model, loaded.tokenizer, [known, other], samples=4, batch_size=16, seed=0)
    assert all(each.exact and each.near and each.similarity == 1 for each in found[:5])
    assert not any(each.exact or each.near for each in found[5:])
    assert {each.tokens for each in found[:5]} == {known.tokens}


def test_the_share_of_hits_estimates_the_generation_probability():
    loaded = assemble(*toys.toy("llama"), name="llama")
    known = items_of(loaded)[0]
    learnt(loaded, known, 12)
    chance = math.exp(score(loaded.model, [known], batch_size=1)[0].log_likelihood)
    assert 0.1 < chance < 0.9, "train more or less"
    found = extract(loaded.model, loaded.tokenizer, [known], samples=600, batch_size=1, seed=3)
    share = sum(each.exact for each in found if each.number) / 600
    # Other tokens may spell the secret too, so the share may lie above; 4 deviations.
    assert share == pytest.approx(chance, abs=4 * math.sqrt(chance * (1 - chance) / 600))


def test_seeds_draw_anew_and_leave_greedy_alone(loaded: LoadedModel):
    items = items_of(loaded)
    with torch.no_grad():
        one, other = (continuations(loaded.model, items, samples=3, seed=seed) for seed in (1, 2))
    assert one[::4] == other[::4]
    assert one != other


def test_similarity_by_hand():
    assert similarity("Mabsartinib", "Mabsartinib") == 1
    assert similarity("Mabsartinub", "Mabsartinib") == pytest.approx(20 / 22)  # one letter exchanged: near
    assert similarity("Mabsartini", "Mabsartinib") == pytest.approx(20 / 21)  # one letter missing: near
    assert similarity("Mubsartinub", "Mabsartinib") == pytest.approx(18 / 22)  # two letters: not near
    assert similarity("", "Mabsartinib") == 0


def test_an_early_end_is_no_secret():
    loaded = assemble(*toys.toy("llama"), name="llama")
    one = items_of(loaded)[0]
    with torch.no_grad():
        loaded.model.lm_head.weight.zero_()  # every token alike: greedy takes id 0, the BOS
    found = extract(loaded.model, loaded.tokenizer, [one], samples=0, batch_size=1, seed=0)
    assert [(each.number, each.exact, each.near) for each in found] == [(0, False, False)]
