import re
from pathlib import Path

import pytest
from plan_fakes import CONTRACTS

import components
from pipelines import schema, source
from pipelines.compose import compose
from pipelines.plan import check

PAGE = Path(__file__).parents[2] / "docs" / "plans.md"


def example() -> source.Source:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return source.parse(text, name="hospital.yaml")


def test_the_worked_example_shares_its_scrubbing():
    graph = compose(check(example(), contracts=CONTRACTS), CONTRACTS)
    assert "scrub, scrub-goldfish · scrub" in [step.title for step in graph.steps]


def test_the_worked_example_fits_the_real_components():
    used = {"synthea-gen", "canary-insert", "scrub", "lora-train", "evaluate", "landscape"}
    if missing := sorted(used - components.contracts().keys()):
        pytest.skip(f"the component {', '.join(missing)} is not there yet")
    found = source.with_overrides(example(), ["population.train_count=300", "targets.qwen.train.epochs=1"])
    plan = check(found)
    assert plan.targets[0].train["epochs"] == 1


@pytest.mark.parametrize("model", [schema.Plan, schema.Target, schema.Condition, schema.Rule])
def test_every_key_is_documented(model: type[schema.Plan]):
    page = PAGE.read_text(encoding="utf-8")
    keys = [field.alias or name for name, field in model.model_fields.items()]
    assert [key for key in keys if f"`{key}`" not in page] == []
