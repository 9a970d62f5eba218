"""Moments against a loop in double precision, and the model without its adapter."""

import math

import pytest
import torch
import toys

from leakscape.errors import LeakscapeError
from leakscape.models.formatting import probe_text
from leakscape.models.load import LoadedModel, assemble
from leakscape.scoring import observe
from leakscape.scoring.engine import score
from leakscape.scoring.observe import adapter_off, moments
from leakscape.scoring.spans import Item, item
from leakscape.training.lora import LoraSettings, add_lora

TEXTS = [("", "Patient: Ann\nCurrent medications:\n- Mabsartinib" * (1 + number % 3)) for number in range(4)]
TEXTS += [("Patient: Bo\n- ", "Lisinopril 10 MG")]


@pytest.fixture(scope="module", params=toys.ARCHITECTURES)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return assemble(*toys.toy(request.param), name=request.param)


def items_of(loaded: LoadedModel) -> list[Item]:
    found = [item(loaded, probe_text(loaded, *text), str(number)) for number, text in enumerate(TEXTS)]
    return [each for each in found if isinstance(each, Item)]


def brute_force(model: torch.nn.Module, scored: Item) -> list[tuple[float, float, float]]:
    rows = []
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([scored.ids])).logits[0].double()
    for place in range(scored.first, scored.end):
        chances = [math.exp(value) for value in (logits[place - 1] - logits[place - 1].logsumexp(0)).tolist()]
        mean = sum(chance * math.log(chance) for chance in chances)
        variance = sum(chance * (math.log(chance) - mean) ** 2 for chance in chances)
        rows.append((math.log(chances[scored.ids[place]]), mean, math.sqrt(variance)))
    return rows


@pytest.mark.parametrize("batch_size", [1, 3])
def test_moments_equal_a_loop(loaded: LoadedModel, batch_size: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(observe, "_CELLS", 1_000)  # a few places at a time
    items = items_of(loaded)
    for each, found in zip(items, observe.observe(loaded.model, items, batch_size=batch_size), strict=True):
        rows = zip(found.log_likelihoods, found.expected, found.deviation, strict=True)
        for got, expected in zip(rows, brute_force(loaded.model, each), strict=True):
            assert got == pytest.approx(expected, abs=1e-4)


def test_log_likelihoods_are_those_of_scoring(loaded: LoadedModel):
    items = items_of(loaded)
    scores = score(loaded.model, items, batch_size=2)
    for found, scored in zip(observe.observe(loaded.model, items, batch_size=2), scores, strict=True):
        assert found.log_likelihoods == pytest.approx(scored.token_log_likelihoods, abs=1e-5)


def test_moments_by_hand():
    # Two tokens at 3/4 and 1/4, a third that can't come: mean -.5623, deviation (3/4 * 1/4)^.5 ln 3 = .4757.
    logits = torch.tensor([[math.log(3.0), 0.0, -math.inf]])
    found = moments(logits, torch.tensor([1]))
    assert found.log_likelihoods == pytest.approx((math.log(1 / 4),))
    assert found.expected == pytest.approx((0.75 * math.log(0.75) + 0.25 * math.log(0.25),))
    assert found.deviation == pytest.approx((math.sqrt(3) / 4 * math.log(3),), abs=1e-6)


def test_without_its_adapter_the_model_is_the_base(loaded: LoadedModel):
    base = score(loaded.model, items_of(loaded), batch_size=2)
    model, _ = toys.toy(loaded.name)
    adapted = add_lora(model, LoraSettings(rank=2))
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.fill_(0.05)
    with adapter_off(adapted) as there:
        assert there
        off = score(adapted, items_of(loaded), batch_size=2)
    again = score(adapted, items_of(loaded), batch_size=2)
    for before, without, on in zip(base, off, again, strict=True):
        assert without.log_likelihood == pytest.approx(before.log_likelihood, abs=1e-4)
        assert on.log_likelihood != pytest.approx(before.log_likelihood, abs=1e-2)


def test_a_model_without_adapter_is_no_reference(loaded: LoadedModel):
    with adapter_off(loaded.model) as there:
        assert not there


def test_what_is_no_number_is_refused_by_id():
    loaded = assemble(*toys.toy("llama"), name="llama")
    with torch.no_grad():
        next(loaded.model.parameters()).fill_(math.nan)
    with pytest.raises(LeakscapeError, match=r"^0: the model gives no finite"):
        observe.observe(loaded.model, items_of(loaded)[:1], batch_size=1)
