from pathlib import Path
from typing import Any

import pytest
from plan_fakes import CONTRACTS, PLAN

from leakscape.errors import PlanError
from pipelines import plan as plans
from pipelines import source


def check(text: str = PLAN, *overrides: str, contracts: dict[str, type[Any]] = CONTRACTS):
    found = source.with_overrides(source.parse(text, name="p.yaml"), overrides)
    return plans.check(found, contracts=contracts)


def line_of(text: str, start: str):
    return next(number for number, line in enumerate(text.splitlines(), start=1) if line.strip().startswith(start))


def test_a_sound_plan_is_read():
    plan = check()
    assert plan.name == "small"
    assert [condition.name for condition in plan.conditions] == ["none", "direct", "scrub", "dp"]
    assert plan.targets[0].label == "tiny"
    assert plan.targets[0].train["learning_rate"] == 0.01


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: small", "nmae: small", "nmae is no key of a plan here; did you mean `name`?"),
        ("seed: 7", "seed: 7\nfoo: 1", "foo is no key of a plan here; there are schema, name, description,"),
        ("schema: leakscape/plan/1", "schema: leakscape/plan/2", "schema must be 'leakscape/plan/1'."),
        ("seed: 7", "seed: '7'", "seed must be a whole number."),
        ("seed: 7", "seed: true", "seed must be a whole number."),
        ("seed: 7", "seed: 7.0", "seed must be a whole number."),
        ("seed: 7", "seed: -1", "seed must be at least 0."),
        ("seed: 7", "seed: 4294967296", "seed must be at most 4294967295."),
        ("name: small", "name: 12", "name must be text; put it in quotes"),
        ("name: small", "name: A plan", "name must be a short name of letters, digits and hyphens"),
        ("name: small", "name: ../x", "name must be a short name"),
        ("  - name: direct", "  - name: true", "conditions.1.name must be text; put it in quotes"),
        ("detector: rules", "sumary: rules", "corpus.0.sumary is no parameter of scrub: there are detector, model,"),
        ("  train_count: 300", "  train_count: yes", "population.train_count takes a whole number, not str."),
        ("  train_count: 300", "  train_count: 0", "population.train_count must be at least 1, not 0."),
        ("  train_count: 300", "  train_cuont: 3", "train_cuont is no parameter of synthea-gen: did you mean"),
        ("  count: 25", "  multiplicities: [1, -4]", "canaries.multiplicities must be at least 0, not -4."),
        ("  resamples: 500", "  resamples: 5", "report.resamples must be at least 100, not 5."),
        ("  resamples: 500", "  plan: {}", "report.plan is the plan itself; remove it here."),
        ("      learning_rate: 1e-2", "      learning_rate: 0", "targets.0.train.learning_rate must be above 0"),
        ("      learning_rate: 1e-2", "      lerning_rate: 1", "train.lerning_rate is no parameter of dp-train or"),
        ("      learning_rate: 1e-2", "      model: x", "targets.0.train.model is the target's model; remove it here."),
        ("      batch_size: 16", "      checkpointing: yes", "train.checkpointing takes true or false, not str."),
        ("      component: lora-train", "      componant: lora-train", "conditions.1.train names no component"),
        ("component: scrub", "component: scrup", "is an unknown component `scrup`: there are scrub."),
        ("component: scrub", "component: lora-train", "can't be lora-train here: there are scrub."),
        ("component: dp-train", "component: unlearn-x", "component `unlearn-x`: there are dp-train, lora-train."),
        ("      epsilon: 8", "      epsilon: -1", "conditions.3.train.epsilon must be above 0, not -1."),
        ("      epsilon: 8\n", "", "conditions.3.train lacks `epsilon`, which dp-train needs: Privacy budget."),
        ("  - name: dp", "  - name: direct", "conditions.3 is named `direct` like another one"),
        ("  - name: dp", "  - name: dp\n    targets: [tyni]", "targets.0 is no target of this plan: there are tiny."),
        ("  - name: dp", "  - name: dp\n    targets: []", "conditions.3.targets needs at least one entry."),
        ("  - name: dp", "  - name: dp\n    evaluate: {condition: x}", "is the condition's name; remove it here."),
        ("  - model: leakscape/tiny", "  - name: a b\n    model: x", "targets.0.name must be a short name of letters,"),
        ("  - model: leakscape/tiny", "  - model: /", "targets.0 has a model whose path ends in no name"),
        ("  - model: leakscape/tiny", "  - model: ''", "targets.0.model must not be empty."),
        ("  - model: leakscape/tiny", "  - modle: leakscape/tiny", "targets.0.model is missing."),
        ("    summary: Untouched.", "    train: {component: lora-train}", "targets.0 (tiny) has no untouched"),
    ],
)  # fmt: skip
def test_faults_name_file_line_and_key(old: str, new: str, message: str):
    text = PLAN.replace(old, new, 1)
    with pytest.raises(PlanError) as error:
        check(text)
    assert message in str(error.value)
    assert all(line.startswith("p.yaml, line ") for line in str(error.value).splitlines())


def test_a_fault_names_its_own_line():
    text = PLAN.replace("epsilon: 8", "epsilon: -1")
    with pytest.raises(PlanError, match=f"^p.yaml, line {line_of(text, 'epsilon')}: conditions.3.train.epsilon"):
        check(text)


def test_all_faults_are_reported_in_reading_order():
    text = PLAN.replace("epsilon: 8", "epsilon: -1").replace("train_count: 300", "train_count: 0")
    with pytest.raises(PlanError) as error:
        check(text)
    first, second = str(error.value).splitlines()
    assert "train_count" in first
    assert "epsilon" in second


def test_a_corpus_without_a_trainer_is_refused():
    text = PLAN.replace("        detector: rules\n    train:\n      component: lora-train\n", "")
    with pytest.raises(PlanError, match=r"conditions\.2 \(scrub\) changes the corpus but trains on nothing"):
        check(text)


def test_an_override_is_checked_and_named():
    with pytest.raises(PlanError, match=r"^--set canaries\.count: canaries\.count takes a whole number, not str\.$"):
        check(PLAN, "canaries.count=many")
    assert check(PLAN, "canaries.count=50").canaries["count"] == 50


def test_two_targets_of_one_name_are_refused():
    text = PLAN.replace("targets:\n", "targets:\n  - model: other/tiny\n")
    with pytest.raises(PlanError, match=r"targets\.1 is named `tiny` like another one"):
        check(text)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{metric: exposure_bits, condition: none, bound: high, at_most: 2}", ""),
        ("{metric: exposure_bits, condition: non, bound: high, at_most: 2}", "did you mean `none`?"),
        ("{metric: exposure_bits, condition: none, bound: mid, at_most: 2}", "bound must be 'low' or 'high'."),
        ("{metric: exposure_bits, condition: none, bound: high}", "needs one of `at_most` and `at_least`."),
        ("{metric: m, condition: none, bound: low, at_least: 1, at_most: 2}", "needs one of"),
        ("{metric: m, condition: none, bound: low, at_least: 1, target: x}", "is no target"),
        ("{metric: exposure, condition: none, bound: high, at_most: 2}", "did you mean `exposure_bits`?"),
        ("{metric: epsilon_lower_bound, condition: none, bound: high, at_most: 8}", "must be low"),
        ("{metric: harness_arc, condition: none, bound: low, at_least: 0.5}", "is no metric of this plan"),
        ("{metric: exposure_bits, condition: none, against: scrub, bound: low, at_most: 0}", "can't be scrub"),
        ("{metric: exposure_bits, condition: none, against: none, bound: low, at_most: 0}", "the rule's own condition"),
        ("{metric: extraction_rate, condition: none, against: last, bound: low, at_most: 0}", "can't be last for extr"),
    ],
)
def test_gate_rules(rule: str, message: str):
    text = f"{PLAN}gate:\n  - {rule}\n"
    if not message:
        assert check(text).gate[0].at_most == 2.0
        return
    with pytest.raises(PlanError) as error:
        check(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("condition: scrub", "gate.0 would always fail, as scrub is not run on big; set its `target`."),
        ("condition: scrub, target: big", "as scrub is not run on big"),
        ("condition: scrub, target: tiny", ""),
        ("condition: dp, against: direct", "gate.0 would always fail, as big has no direct to compare with"),
        ("condition: dp, against: direct, target: tiny", ""),
        ("condition: dp, against: direct, target: big", "can't be direct: there are last, none."),
    ],
)
def test_a_rule_on_what_is_not_run_is_refused(rule: str, message: str):
    """It would fail each audit, for want of a figure: the rule is wrong, not the model."""
    text = PLAN.replace("targets:\n", "targets:\n  - {model: other/big}\n", 1)
    for name in ("scrub", "direct"):
        text = text.replace(f"  - name: {name}\n", f"  - name: {name}\n    targets: [tiny]\n")
    text += f"gate:\n  - {{metric: exposure_bits, {rule}, bound: high, at_most: 2}}\n"
    if not message:
        assert len(check(text).gate) == 1
        return
    with pytest.raises(PlanError) as error:
        check(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("publish", "message"),
    [
        ("{condition: dp}", ""),
        ("{condition: dpp}", "publish.condition is no condition: did you mean `dp`?"),
        ("{condition: dp, target: big}", "publish.target is no target of this plan"),
        ("{mlflow: 'http://a'}", "publish needs a `condition`"),
        ("{registry: 'http://a'}", "publish needs a `condition`"),
        ("{condition: 3}", "publish.condition"),
        ("{condition: [dp]}", "publish.condition"),
    ],
)
def test_what_is_published_must_be_there(publish: str, message: str):
    """It would fail the last step of an audit, after everything was trained."""
    text = f"{PLAN}publish: {publish}\n"
    if not message:
        assert check(text).publish
        return
    with pytest.raises(PlanError) as error:
        check(text)
    assert message in str(error.value)


def test_what_is_published_of_several_targets_is_named():
    text = PLAN.replace("targets:\n", "targets:\n  - {model: other/big}\n", 1) + "publish: {condition: dp}\n"
    with pytest.raises(PlanError, match=r"publish needs a `target`: there are big, tiny\."):
        check(text)
    text = text.replace("  - name: dp\n", "  - name: dp\n    targets: [tiny]\n").replace(
        "{condition: dp}", "{condition: dp, target: big}"
    )
    with pytest.raises(PlanError, match=r"publish\.condition is not run on big\."):
        check(text)


def test_a_missing_component_is_named_with_those_there_are():
    without = {name: contract for name, contract in CONTRACTS.items() if name != "dp-train"}
    with pytest.raises(PlanError, match=r"unknown component `dp-train`: there are lora-train\."):
        check(PLAN, contracts=without)
    frame = {name: contract for name, contract in CONTRACTS.items() if name != "synthea-gen"}
    with pytest.raises(PlanError, match="population needs the component synthea-gen, which this installation lacks"):
        check(PLAN, contracts=frame)


def test_a_path_is_relative_to_the_plan_and_an_override_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder, here = tmp_path / "plans", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    file = folder / "p.yaml"
    file.write_text(PLAN.replace("  train_count: 300", "  source: synthea-csv\n  path: data/csv"), encoding="utf-8")
    found = plans.load(str(file), contracts=CONTRACTS)
    assert found.population["path"] == str(folder / "data/csv")
    found = plans.load(str(file), overrides=["population.path=data/csv"], contracts=CONTRACTS)
    assert found.population["path"] == str(here / "data/csv")
    found = plans.load(str(file), overrides=["population.path=s3://bucket/csv"], contracts=CONTRACTS)
    assert found.population["path"] == "s3://bucket/csv"


def test_find_prefers_a_file_and_helps_with_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert plans.find("laptop") == plans.PLANS / "laptop.yaml"
    Path("laptop").write_text("x", encoding="utf-8")
    assert plans.find("laptop") == Path("laptop")
    with pytest.raises(
        PlanError, match="lapptop is neither a file nor the name of a packaged plan: did you mean `laptop`"
    ):
        plans.find("lapptop")
