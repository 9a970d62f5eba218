import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_fakes import CONTRACTS, PLAN, graph

from leakscape.contract import spec
from leakscape.errors import PlanError
from pipelines import source
from pipelines.compose import Graph, Ref, compose, stages
from pipelines.plan import check


def titles(found: Graph):
    return [step.title for step in found.steps]


def by_title(found: Graph):
    return {step.title: step for step in found.steps}


TWO_TARGETS = PLAN.replace("conditions:\n", "  - model: org/Big-4B\n    name: big\n    revision: abc\nconditions:\n", 1)


def test_each_step_stands_once_and_reads_well():
    assert titles(graph()) == [
        "synthea-gen",
        "canary-insert",
        "tiny · none · evaluate",
        "tiny · direct · lora-train",
        "tiny · direct · evaluate",
        "scrub · scrub",
        "tiny · scrub · lora-train",
        "tiny · scrub · evaluate",
        "tiny · dp · dp-train",
        "tiny · dp · evaluate",
        "landscape",
    ]


def test_wiring_takes_the_last_corpus_and_every_adapter():
    steps = by_title(graph())
    scrub, population = steps["scrub · scrub"], steps["synthea-gen"].id
    canaries = steps["canary-insert"].id
    assert scrub.inputs == {"corpus": (Ref(canaries, "corpus"),)}
    assert steps["tiny · scrub · lora-train"].inputs == {
        "corpus": (Ref(scrub.id, "scrubbed"),),
        "canaries": (Ref(canaries, "canaries"),),
    }
    assert steps["tiny · none · evaluate"].inputs["adapters"] == ()
    assert steps["tiny · dp · evaluate"].inputs == {
        "canaries": (Ref(canaries, "canaries"),),
        "held_out": (Ref(population, "held_out"),),
        "original": (Ref(canaries, "corpus"),),
        "adapters": (Ref(steps["tiny · dp · dp-train"].id, "adapter"),),
    }


def test_an_input_named_original_takes_the_corpus_before_any_defence():
    steps = by_title(graph())
    assert steps["tiny · scrub · lora-train"].inputs["corpus"] == (Ref(steps["scrub · scrub"].id, "scrubbed"),)
    assert steps["tiny · scrub · evaluate"].inputs["original"] == (Ref(steps["canary-insert"].id, "corpus"),)


def test_the_landscape_gets_all_measurements_and_all_evidence_in_the_plan_s_order():
    steps = by_title(graph())
    inputs = steps["landscape"].inputs
    assert inputs["measurements"] == tuple(
        Ref(steps[f"tiny · {name} · evaluate"].id, "measurements") for name in ("none", "direct", "scrub", "dp")
    )
    assert inputs["evidence"] == (
        Ref(steps["tiny · direct · lora-train"].id, "log"),
        Ref(steps["scrub · scrub"].id, "masks"),
        Ref(steps["tiny · scrub · lora-train"].id, "log"),
        Ref(steps["tiny · dp · dp-train"].id, "log"),
    )


def test_parameters_are_complete_and_the_nearer_setting_wins():
    steps = by_title(graph())
    assert steps["tiny · dp · dp-train"].parameters == {
        "model": "leakscape/tiny",
        "epsilon": 8.0,
        "learning_rate": 0.005,  # the condition's, not the target's 1e-2; batch_size is no parameter of dp-train
        "seed": 7,
    }
    trainer = steps["tiny · direct · lora-train"].parameters
    assert (trainer["learning_rate"], trainer["batch_size"], trainer["epochs"], trainer["seed"]) == (0.01, 16, 2, 7)
    assert list(trainer) == [field.name for field in spec(CONTRACTS["lora-train"]).params]


def test_the_landscape_knows_the_plan():
    assert by_title(graph(TWO_TARGETS))["landscape"].parameters["plan"] == {
        "name": "small",
        "description": "",
        "seed": 7,
        "targets": [
            {"name": "tiny", "model": "leakscape/tiny", "revision": ""},
            {"name": "big", "model": "org/Big-4B", "revision": "abc"},
        ],
        "conditions": [
            {"name": "none", "summary": "Untouched."},
            {"name": "direct", "summary": "As they are."},
            {"name": "scrub", "summary": ""},
            {"name": "dp", "summary": ""},
        ],
    }


def test_a_second_target_adds_only_what_is_new():
    one, two = graph(), graph(TWO_TARGETS)
    assert sorted(set(titles(two)) - set(titles(one))) == [
        "big · direct · evaluate",
        "big · direct · lora-train",
        "big · dp · dp-train",
        "big · dp · evaluate",
        "big · none · evaluate",
        "big · scrub · evaluate",
        "big · scrub · lora-train",
    ]
    kept = {step.id for step in one.steps if step.component != "landscape"}
    assert kept < {step.id for step in two.steps}
    # 2 frame steps and 4 evaluations, 3 trainers, 1 scrub for each target, 8 rows: 8 * 2 + 2 * 8 + 1.
    assert two.asked == 33
    assert by_title(two)["scrub · scrub"].targets == ("tiny", "big")


def test_a_chain_that_begins_like_another_shares_its_beginning():
    text = PLAN.replace(
        "  - name: dp\n",
        "  - name: scrub-dp\n    corpus: [{component: scrub}]\n    train: {component: dp-train, epsilon: 4}\n"
        "  - name: dp\n",
    )
    steps = by_title(graph(text))
    # `detector: rules` is the default, so stating it changes nothing.
    assert steps["scrub, scrub-dp · scrub"].conditions == ("scrub", "scrub-dp")
    assert steps["tiny · scrub-dp · dp-train"].inputs["corpus"] == (
        Ref(steps["scrub, scrub-dp · scrub"].id, "scrubbed"),
    )


def test_a_condition_may_keep_to_some_targets():
    text = TWO_TARGETS.replace("  - name: dp\n", "  - name: dp\n    targets: [tiny]\n")
    assert "tiny · dp · evaluate" in titles(graph(text))
    assert "big · dp · evaluate" not in titles(graph(text))
    stated = by_title(graph(text))["landscape"].parameters["plan"]["conditions"]
    assert [row.get("targets") for row in stated] == [None, None, None, ["tiny"]]


def test_the_same_component_twice_in_a_chain_is_numbered():
    text = PLAN.replace(
        "      - component: scrub\n", "      - component: scrub\n        model: x\n      - component: scrub\n"
    )
    found = graph(text)
    assert [title for title in titles(found) if title.startswith("scrub")] == ["scrub · scrub", "scrub · scrub 2"]
    assert len(set(titles(found))) == len(found.steps)


def test_one_model_under_two_names_trains_once():
    text = PLAN.replace(
        "conditions:\n",
        "  - model: leakscape/tiny\n    name: again\n    train: {learning_rate: 1e-2, batch_size: 16}\nconditions:\n",
        1,
    )
    assert "tiny, again · direct · lora-train" in titles(graph(text))


def test_the_content_hash_of_data_outside_makes_another_population():
    assert by_title(graph(content_hash="ab"))["synthea-gen"].parameters["content_hash"] == "ab"
    assert graph(content_hash="ab").steps[0].id != graph().steps[0].id


def test_ids_do_not_depend_on_the_rest_of_the_plan():
    rows = {step.title: step.id for step in graph().steps}
    without = PLAN[: PLAN.index("  - name: dp")] + PLAN[PLAN.index("report:") :]
    fewer = {step.title: step.id for step in graph(without).steps}
    assert all(rows[title] == name for title, name in fewer.items() if title != "landscape")
    assert fewer["landscape"] != rows["landscape"]


def test_a_plan_too_long_for_kubeflow_is_refused():
    text = PLAN.replace("summary: Untouched.", f"summary: {'word ' * 2000}")
    with pytest.raises(PlanError, match="`plan` of landscape would be 10"):
        graph(text)


def test_an_input_that_nothing_gives_is_refused():
    class_of = {**CONTRACTS}
    plan = check(source.parse(PLAN, name="p.yaml"), contracts=CONTRACTS)
    del class_of["canary-insert"]
    class_of["canary-insert"] = CONTRACTS["scrub"]
    with pytest.raises(PlanError, match="scrub needs `corpus`, which no step before it gives"):
        compose(plan, class_of)


chains = st.lists(
    st.tuples(st.lists(st.sampled_from(["", "a", "b"]), max_size=3), st.sampled_from(["lora-train", "dp-train"])),
    max_size=6,
)


@given(chains)
def test_whatever_the_plan_steps_come_after_their_needs_and_none_stands_twice(rows: list[tuple[list[str], str]]):
    conditions = [{"name": "none"}] + [
        {
            "name": f"c{index}",
            "corpus": [{"component": "scrub", "model": model} for model in models],
            "train": {"component": trainer, **({"epsilon": 8} if trainer == "dp-train" else {})},
        }
        for index, (models, trainer) in enumerate(rows)
    ]
    document = {"schema": "leakscape/plan/1", "name": "p", "targets": [{"model": "m"}], "conditions": conditions}
    found = graph(json.dumps(document))
    seen: set[str] = set()
    for step in found.steps:
        assert set(step.needs) <= seen
        seen.add(step.id)
    keys = [
        json.dumps([step.component, step.parameters, sorted(map(str, step.inputs.items()))]) for step in found.steps
    ]
    assert len(keys) == len(set(keys)) == len(set(titles(found)))
    # Corpus steps are shared by common beginnings: as many as there are distinct beginnings (a trie's nodes).
    beginnings = {tuple(models[:length]) for models, _ in rows for length in range(1, len(models) + 1)}
    assert sum(step.component == "scrub" for step in found.steps) == len(beginnings)
    assert sum(step.component.endswith("-train") for step in found.steps) == len({(tuple(m), t) for m, t in rows})
    assert sum(step.component == "evaluate" for step in found.steps) == len(rows) + 1


def test_stages_are_the_longest_way_to_a_step():
    found = graph()
    depth = {step.title: number for number, step in stages(found)}
    assert depth["synthea-gen"] == 0
    assert depth["tiny · scrub · evaluate"] == 4
    assert depth["landscape"] == 5


def test_the_order_of_a_step_s_settings_does_not_matter():
    settings = ["objective: goldfish", "epochs: 3", "learning_rate: 1e-3"]
    ids = set()
    for seed in range(5):
        lines = "".join(f"      {line}\n" for line in random.Random(seed).sample(settings, 3))
        text = PLAN.replace("      component: lora-train\n", f"      component: lora-train\n{lines}", 1)
        ids.add(by_title(graph(text))["tiny · direct · lora-train"].id)
    assert len(ids) == 1
