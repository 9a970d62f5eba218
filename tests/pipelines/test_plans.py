"""Every packaged plan: checked, composed, each contract built from its constants, compiled."""

from pathlib import Path

import pytest
import yaml
from plan_fakes import PUSHED

import components
from leakscape.contract import In, spec
from pipelines import audit, images, needs
from pipelines.compose import Graph
from pipelines.parameters import CANARIES, EVALUATE, LANDSCAPE, POPULATION
from pipelines.placement import place
from pipelines.plan import PLANS, load, packaged
from pipelines.power import power_of
from pipelines.source import read

NAMES = sorted(packaged())
ISSUE = {
    "laptop",
    "laptop-coins",
    "synthea-csv",
    "paper-main",
    "paper-epsilon",
    "paper-rewriters",
    "paper-effort",
    "paper-summary",
    "paper-epochs-vs-rewrites",
    "paper-duplication",
    "paper-coins",
}


def needed(name: str) -> set[str]:
    conditions = read(PLANS / f"{name}.yaml").data["conditions"]
    uses = [use for condition in conditions for use in [*condition.get("corpus", []), condition.get("train")] if use]
    return {POPULATION, CANARIES, EVALUATE, LANDSCAPE, *(use["component"] for use in uses)}


def composed(name: str, tmp_path: Path) -> Graph:
    known = components.contracts()
    if missing := sorted(needed(name) - known.keys()):
        pytest.skip(f"the component {', '.join(missing)} is not there yet")
    overrides = []
    if read(PLANS / f"{name}.yaml").data["population"]["source"] != "builtin":
        (tmp_path / "patients.csv").write_text("Id\n", encoding="utf-8")
        overrides = [f"population.path={tmp_path}"]
    return audit.graph(load(name, overrides=overrides), known)


def test_all_plans_are_there_under_their_own_names():
    assert set(NAMES) >= ISSUE
    assert all(read(PLANS / f"{name}.yaml").data["name"] == name for name in NAMES)
    assert all(read(PLANS / f"{name}.yaml").data["description"] for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_contract_can_be_built_from_the_plan_s_constants(name: str, tmp_path: Path):
    for step in composed(name, tmp_path).steps:
        contract = components.contracts()[step.component]
        fields = spec(contract)
        inputs = {
            field.name: (Path("a"),) if isinstance(field.role, In) and field.role.many else Path("a")
            for field in fields.inputs
        }
        outputs = {field.name: Path("b") for field in fields.outputs}
        made = contract(**step.parameters, **inputs, **outputs)
        assert {field.name: getattr(made, field.name) for field in fields.params} == step.parameters


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_before_and_after_the_steps_fits_its_contract(name: str, tmp_path: Path):
    graph, known = composed(name, tmp_path), components.contracts()
    places = {step.id: place(graph.placement, spec(known[step.component]), step.parameters) for step in graph.steps}
    assert known["preflight"](report=Path("b"), **needs.of_preflight(graph, places))
    assert known["finish"](outcome=Path("b"), **needs.of_finish(graph))


@pytest.mark.parametrize("name", NAMES)
def test_each_plan_compiles(name: str, tmp_path: Path):
    graph = composed(name, tmp_path)
    file = tmp_path / "audit.yaml"
    audit.compile_to(graph, components.contracts(), file, PUSHED)
    made = next(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    tasks = made["components"]["comp-exit-handler-1"]["dag"]["tasks"].values()
    titles = ["preflight", *(step.title for step in graph.steps)]
    assert sorted(task["taskInfo"]["name"] for task in tasks) == sorted(titles)
    assert sorted(made["root"]["dag"]["tasks"]) == ["exit-handler-1", "finish"]
    executors = made["deploymentSpec"]["executors"].values()
    assert all(images.by_digest(executor["container"]["image"]) for executor in executors)
    for component in (component for component in made["components"].values() if "dag" not in component):
        for side in ("inputDefinitions", "outputDefinitions"):
            for group in component.get(side, {}).values():
                assert all(entry["description"] for entry in group.values())


def test_the_main_comparison_has_the_paper_s_sizes(tmp_path: Path):
    """Paper 000: 5,000 records, 100 canaries in five groups of 20, 5,000 + 20 * (1 + 4 + 16 + 32 + 64) = 7,340."""
    graph = composed("paper-main", tmp_path)
    population, canaries = graph.step(POPULATION).parameters, graph.step(CANARIES).parameters
    copies = sum(canaries["multiplicities"]) * canaries["count"] // len(canaries["multiplicities"])
    assert population["train_count"] + copies == 7340
    assert canaries["alternatives"] == 6300
    trainers = [step for step in graph.steps if step.component == "lora-train"]
    assert {step.parameters["learning_rate"] for step in trainers} == {2e-4}
    # Both models share the population, the canaries and every changed corpus.
    assert all(len(step.targets) == 2 for step in graph.steps if step.component in {"scrub", "vllm-rewrite"})


def test_the_plan_on_synthea_s_files_is_the_laptop_s_but_for_its_people():
    laptop, files = (read(PLANS / f"{name}.yaml").data for name in ("laptop", "synthea-csv"))
    own = {"name", "description", "population"}
    assert {key: value for key, value in files.items() if key not in own} == {
        key: value for key, value in laptop.items() if key not in own
    }


@pytest.mark.parametrize("name", ["laptop-coins", "paper-coins"])
def test_coin_plans_bound_the_epsilon_of_a_single_record(name: str, tmp_path: Path):
    graph = composed(name, tmp_path)
    canaries = graph.step(CANARIES).parameters
    assert canaries["inclusion"] == "coin"
    assert canaries["multiplicities"] == [1]
    (claim,) = [step for step in graph.steps if step.parameters.get("epsilon") and not step.parameters["control"]]
    assert (claim.parameters["epsilon"], claim.parameters["unit"]) == (8.0, "record")
    (power,) = power_of(graph)
    assert power.epsilon is not None
    # All of 1,000 canaries' 500 guesses right -> 5.09 at delta 1e-5 (Steinke et al. 2023); of 120 canaries' 60 less.
    assert power.epsilon == pytest.approx({"laptop-coins": 2.97, "paper-coins": 5.09}[name], abs=0.01)
