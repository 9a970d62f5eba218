import pytest

import components
from leakscape.models.size import Size
from pipelines import audit, foresight
from pipelines.compose import Graph
from pipelines.cost import Cost, cost_of, sample
from pipelines.plan import load

RECORDS = sample()
MEAN = sum(len(record.text) for record in RECORDS) / len(RECORDS)


def graph(name: str, *overrides: str) -> Graph:
    known = components.contracts()
    return audit.graph(load(name, overrides=list(overrides), contracts=known), known)


def cost(name: str, *overrides: str, size: Size | None = None) -> Cost:
    found = graph(name, *overrides)
    models = {step.parameters["model"] for step in found.steps if step.parameters.get("model")}
    return cost_of(found, dict.fromkeys(models, size), RECORDS)


def test_training_by_hand():
    """Laptop: 160 + 4 * (1 + 4 + 16 + 32) = 372 records; 24 steps of 16 an epoch; DP: floor(2 * 372 / 64) = 11."""
    found = cost("laptop", size=Size(parameters=1000, characters_per_token=2.0))
    steps = {one.conditions: one.steps for one in found.training}
    assert steps == {(name,): 48 for name in ("direct", "scrub", "goldfish", "rewrite", "privacy-aware")} | {
        ("dp-8",): 11
    }
    assert {one.instances for one in found.training} == {372}
    one = found.training[0]
    assert one.tokens == round(2 * 372 * MEAN / 2)
    assert one.flops == pytest.approx(6 * 1000 * 2 * 372 * MEAN / 2)


def test_the_paper_s_run_has_28_private_steps_and_3670_others():
    """Paper 000: 7,340 records, lot 512, batch 4, two epochs. The models lie elsewhere: their size is unknown."""
    found = cost("paper-main")
    assert {one.steps for one in found.training if "dp-8" in one.conditions} == {28}
    assert {one.steps for one in found.training if "direct" in one.conditions} == {3670}
    assert {one.flops for one in found.training} == {None}
    assert ("scrub · scrub", 1) not in found.shared
    assert found.saved == 61 - 32


def test_privacy_units_are_people_where_the_plan_says_so():
    """160 records and 16 canaries are 176 people: floor(2 * 176 / 64) = 5."""
    found = cost("laptop", "conditions.dp-8.train.unit=person")
    assert next(one.steps for one in found.training if one.conditions == ("dp-8",)) == 5


def test_scoring_by_hand():
    """16 canaries: verbatim, semantic and 4 unplanted each (96), 100 held-out records twice (200), 16 + 60 + 60 texts
    attacked (136), again without the adapter; 16 * 201 names in 16 * (1 + 2) passes; 16 * (1 + 4) continuations.
    """
    found = {one.conditions[0]: one for one in cost("laptop").scoring}
    assert found["none"].texts == 96 + 200 + 136
    assert found["direct"].texts == 96 + 200 + 2 * 136
    assert found["direct"].names == 16 * 201
    assert found["direct"].continuations == 80
    assert found["none"].passes == 432 / 16 + 16 * 3


def test_requests_tokens_and_money():
    """Two calls a record to summarise and expand, twice for each of 7,340; a judge reads a sample of 500."""
    steps = (
        "conditions.privacy-aware.corpus.0.strategy=privacy-aware-summarise-expand",
        "conditions.privacy-aware.corpus.0.copies=2",
        "conditions.privacy-aware.corpus.0.price_in=1",
        "conditions.privacy-aware.corpus.0.price_out=10",
    )
    one, two = sorted(cost("paper-main", *steps).asking, key=lambda asked: asked.requests or 0)
    assert (one.requests, one.money) == (7340, None)
    assert two.requests == 7340 * 2 * 2
    assert two.tokens_out == pytest.approx(7340 * 2 * 2 * MEAN / 3, abs=2)
    assert two.money == pytest.approx((two.tokens_in or 0) / 1e6 + 10 * (two.tokens_out or 0) / 1e6)
    trained = [one.instances for one in cost("paper-main", *steps).training if "privacy-aware" in one.conditions]
    assert trained == [14680, 14680]


def test_a_judge_is_asked_once_a_record_of_its_sample():
    judged = ("conditions.rewrite.corpus.2.backend=openai", "conditions.rewrite.corpus.2.model=m")
    assert [one.requests for one in cost("laptop", *judged).asking] == [372]
    assert [one.requests for one in cost("laptop", *judged, "conditions.rewrite.corpus.2.sample=50").asking] == [50]


def test_parts_side_by_side_ask_no_more_than_one_step():
    found = cost("paper-main", "conditions.rewrite.corpus.0.shards=4", "conditions.rewrite.corpus.0.copies=2")
    assert [one.requests for one in found.asking if "rewrite" in one.conditions] == [3670] * 4
    assert {one.instances for one in found.training if "rewrite" in one.conditions} == {2 * 7340}


def test_what_only_the_data_tell_is_not_guessed():
    found = cost("laptop", "population.train_count=0", "population.held_out_count=0")
    assert {(one.instances, one.steps, one.tokens, one.flops) for one in found.training} == {(None,) * 4}
    assert {one.texts for one in found.scoring} == {None}
    assert "the data tell" in foresight.cost_text(found)


def test_the_text_names_estimates_as_such():
    text = foresight.cost_text(cost("paper-main"))
    assert "Tokens are estimates" in text
    assert "unknown" in text
    assert "no price given" in text
