"""Many candidates after one pass over the prefix, against each one scored on its own."""

import pytest
import toys

from leakscape.models.formatting import probe_text
from leakscape.models.load import LoadedModel, assemble
from leakscape.scoring.candidates import score_candidates, shared_tokens
from leakscape.scoring.engine import score
from leakscape.scoring.spans import Item, item

PREFIX = "Patient: María\nMedications:\n- Lisinopril 10 MG Oral Tablet\n-"
NAMES = ("Mabsartinib", "Cardolol", "M", "Mabsartinibsartinib", "Éxatinib", "Lisinoprol", "Ma", "Mabsartinib 20 MG")


@pytest.fixture(scope="module", params=toys.ARCHITECTURES)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return assemble(*toys.toy(request.param), name=request.param)


def items_of(loaded: LoadedModel, prefix: str, names: tuple[str, ...] = NAMES) -> list[Item]:
    found = [item(loaded, probe_text(loaded, prefix, name), name) for name in names]
    return [each for each in found if isinstance(each, Item)]


@pytest.mark.parametrize("prefix", [PREFIX, PREFIX + " ", ""])
def test_one_pass_equals_the_naive_loop(loaded: LoadedModel, prefix: str):
    items = items_of(loaded, prefix)
    naive = [score(loaded.model, [each], batch_size=1)[0] for each in items]
    for batch_size in (1, 3, 64):
        scored = score_candidates(loaded.model, items, batch_size=batch_size)
        assert scored.shared <= min(each.first for each in items)
        for got, alone in zip(scored.scores, naive, strict=True):
            assert got.token_log_likelihoods == pytest.approx(alone.token_log_likelihoods, abs=1e-4)


def test_a_space_before_the_name_makes_first_tokens_straddle_and_ends_what_is_shared(loaded: LoadedModel):
    items = items_of(loaded, PREFIX + " ")
    assert {each.straddles for each in items} == {True, False}  # " Mab" is a token, " C" is none
    shared = shared_tokens(items)
    assert loaded.tokenizer.decode(items[0].ids[:shared]).endswith("Tablet\n-")


@pytest.mark.parametrize(
    ("items", "shared"),
    [
        ([], 0),
        ([Item("a", (1, 2, 3), 1, 3)], 1),  # a lone candidate shares no scored token
        ([Item("a", (1, 2, 3), 2, 3), Item("b", (1, 2, 4), 2, 3)], 2),
        ([Item("a", (1, 2, 3), 1, 3), Item("b", (1, 2, 4), 1, 3)], 1),  # equal first tokens are scored all the same
        ([Item("a", (1, 2, 3), 2, 3), Item("b", (5, 2, 4), 2, 3)], 0),
        ([Item("a", (1, 2), 1, 2), Item("b", (1, 2, 4), 2, 3)], 1),
    ],
)
def test_shared_tokens(items: list[Item], shared: int):
    assert shared_tokens(items) == shared


def test_the_prefix_is_passed_over_once():
    loaded = assemble(*toys.toy("llama"), name="llama")
    lengths: list[tuple[int, ...]] = []
    loaded.model.model.embed_tokens.register_forward_hook(lambda *call: lengths.append(tuple(call[1][0].shape)))
    items = items_of(loaded, PREFIX)
    scored = score_candidates(loaded.model, items, batch_size=4)
    assert lengths[0] == (1, scored.shared)
    assert sum(rows for rows, _ in lengths[1:]) == len(NAMES)
    assert max(tokens for _, tokens in lengths[1:]) == max(len(each.ids) for each in items) - scored.shared
