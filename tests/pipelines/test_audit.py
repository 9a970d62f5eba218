import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from plan_fakes import CONTRACTS, PLAN, PUSHED

from leakscape.contract import spec
from leakscape.errors import PlanError
from pipelines import audit, source
from pipelines.images import by_digest
from pipelines.plan import check

DUMPER = """\
import sys
from pathlib import Path
from plan_fakes import CONTRACTS, PLAN, PUSHED
from pipelines import audit, source
from pipelines.plan import check
plan = check(source.parse(PLAN, name="p.yaml"), contracts=CONTRACTS)
audit.compile_to(audit.graph(plan, CONTRACTS), CONTRACTS, Path(sys.argv[1]), PUSHED)
"""


def graph(text: str = PLAN):
    return audit.graph(check(source.parse(text, name="p.yaml"), contracts=CONTRACTS), CONTRACTS)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("compiled") / "audit.yaml"
    audit.compile_to(graph(), CONTRACTS, path, PUSHED)
    made: dict[str, Any] = next(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    return made


def steps_of(compiled: dict[str, Any]) -> dict[str, Any]:
    """The tasks in the exit handler, the preflight among them."""
    found: dict[str, Any] = compiled["components"]["comp-exit-handler-1"]["dag"]["tasks"]
    return found


def test_there_is_one_task_for_each_step_with_its_title_and_caching_on(compiled: dict[str, Any]):
    tasks = {name: task for name, task in steps_of(compiled).items() if name != "preflight"}
    assert sorted(task["taskInfo"]["name"] for task in tasks.values()) == sorted(step.title for step in graph().steps)
    cached = [name for name, task in tasks.items() if task["cachingOptions"] == {"enableCache": True}]
    assert set(tasks) - set(cached) == {"landscape"}


def test_what_looks_at_the_world_is_never_taken_from_the_cache(compiled: dict[str, Any]):
    outside = [
        steps_of(compiled)["preflight"],
        steps_of(compiled)["landscape"],
        compiled["root"]["dag"]["tasks"]["finish"],
    ]
    assert not any(task["cachingOptions"].get("enableCache") for task in outside)


def test_the_finishing_task_runs_whatever_happened_and_is_told(compiled: dict[str, Any]):
    finish = compiled["root"]["dag"]["tasks"]["finish"]
    assert finish["dependentTasks"] == ["exit-handler-1"]
    assert finish["triggerPolicy"] == {"strategy": "ALL_UPSTREAM_TASKS_COMPLETED"}
    assert finish["inputs"]["parameters"]["status"] == {"taskFinalStatus": {"producerTask": "exit-handler-1"}}


def test_nothing_of_a_pipeline_holds_source_code_or_a_long_value(compiled: dict[str, Any]):
    def strings(value: object) -> list[str]:
        if isinstance(value, dict):
            return [text for inner in value.values() for text in strings(inner)]
        if isinstance(value, list):
            return [text for inner in value for text in strings(inner)]
        return [value] if isinstance(value, str) else []

    found = strings(compiled)
    assert max(map(len, found)) < 10_000
    assert not [text for text in found if "import " in text or "def " in text]

    assert compiled["pipelineInfo"]["name"] == "leakscape-small"


def test_every_image_is_named_by_digest(compiled: dict[str, Any]):
    containers = [executor["container"] for executor in compiled["deploymentSpec"]["executors"].values()]
    assert len(containers) == len(graph().steps) + len(("preflight", "finish"))
    assert all(by_digest(container["image"]) for container in containers)
    assert not by_digest("leakscape/base:latest")
    by_component = {container["command"][-1]: container["image"] for container in containers}
    assert all(f"/{spec(CONTRACTS[name]).image}@" in image for name, image in by_component.items())


def test_every_input_and_output_is_described(compiled: dict[str, Any]):
    containers = [component for component in compiled["components"].values() if "dag" not in component]
    for component in [*containers, compiled["root"]]:
        for side in ("inputDefinitions", "outputDefinitions"):
            for group in component.get(side, {}).values():
                assert all(entry["description"] for entry in group.values())


def test_tasks_wait_for_those_they_need(compiled: dict[str, Any]):
    tasks = steps_of(compiled)
    titles = {name: task["taskInfo"]["name"] for name, task in tasks.items()}
    made = {
        task["taskInfo"]["name"]: {titles[name] for name in task.get("dependentTasks", [])} for task in tasks.values()
    }
    steps = {step.id: step.title for step in graph().steps}
    needed = {step.title: {steps[name] for name in step.needs} or {"preflight"} for step in graph().steps}
    assert made == {"preflight": set(), **needed}


def test_equal_plans_compile_to_equal_bytes_in_every_process(tmp_path: Path):
    made = []
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.yaml"
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])}
        subprocess.run([sys.executable, "-c", DUMPER, str(path)], check=True, env=environment)
        made.append(path.read_bytes())
    assert made[0] == made[1]


def test_compiling_to_a_folder_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(PlanError, match="can't be written: No such file"):
        audit.compile_to(graph(), CONTRACTS, tmp_path / "none" / "audit.yaml", PUSHED)
    assert list(tmp_path.iterdir()) == []


def test_a_source_outside_needs_a_path():
    text = PLAN.replace("  train_count: 300", "  source: synthea-csv")
    with pytest.raises(PlanError, match=r"synthea-csv needs a path: add --set population\.path=PATH"):
        graph(text)


def test_data_outside_enter_the_population_by_their_digest(tmp_path: Path):
    text = PLAN.replace("  train_count: 300", f"  source: synthea-csv\n  path: {tmp_path}")
    (tmp_path / "patients.csv").write_text("Id\n1\n", encoding="utf-8")
    before = graph(text).steps[0]
    (tmp_path / "patients.csv").write_text("Id\n2\n", encoding="utf-8")
    after = graph(text).steps[0]
    assert len(before.parameters["content_hash"]) == 64
    assert before.parameters["content_hash"] != after.parameters["content_hash"]
    assert before.id != after.id


def test_data_elsewhere_are_pinned_by_the_plan():
    text = PLAN.replace("  train_count: 300", "  source: synthea-csv\n  path: s3://bucket/csv")
    with pytest.raises(PlanError, match=r"pin them by population\.content_hash"):
        graph(text)


def test_a_stated_digest_is_taken_at_its_word():
    text = PLAN.replace("  train_count: 300", "  source: synthea-csv\n  path: /not/here\n  content_hash: abc")
    assert graph(text).steps[0].parameters["content_hash"] == "abc"
