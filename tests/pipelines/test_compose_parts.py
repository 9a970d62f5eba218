import pytest

import components
from leakscape.errors import PlanError
from pipelines import source
from pipelines.compose import Ref, compose
from pipelines.plan import check

SHARDED = """\
schema: leakscape/plan/1
name: sharded
targets:
  - model: leakscape/tiny
conditions:
  - name: none
  - name: rewrite
    corpus:
      - component: vllm-rewrite
        backend: rules
        shards: 3
        copies: 2
      - component: corpus-audit
    train:
      component: lora-train
"""


def test_a_rewriting_in_parts_fans_out_and_joins():
    known = components.contracts()
    found = compose(check(source.parse(SHARDED, name="s.yaml"), contracts=known), known)
    parts = [step for step in found.steps if step.component == "vllm-rewrite"]
    assert [step.parameters["shard"] for step in parts] == [1, 2, 3]
    assert [step.title for step in parts] == [f"rewrite · vllm-rewrite {number}/3" for number in (1, 2, 3)]
    join = found.step("rewrite-join")
    assert join.parameters == {"copies": 2, "shards": 3, "max_quarantined": 0.01}
    assert join.inputs["parts"] == tuple(Ref(step.id, "rewritten") for step in parts)
    assert join.inputs["ledgers"] == tuple(Ref(step.id, "ledger") for step in parts)
    assert join.inputs["corpus"] == (Ref(found.step("canary-insert").id, "corpus"),)
    # Whoever comes after takes the joined corpus, and the landscape the joined ledger alone.
    for component in ("lora-train", "corpus-audit"):
        assert found.step(component).inputs["corpus"] == (Ref(join.id, "rewritten"),)
    evidence = found.step("landscape").inputs["evidence"]
    assert Ref(join.id, "ledger") in evidence
    assert not {step.id for step in parts} & {ref.step for ref in evidence}


def test_one_part_is_no_part():
    known = components.contracts()
    plans = [SHARDED.replace("shards: 3", "shards: 1"), SHARDED.replace("        shards: 3\n", "")]
    one, two = (compose(check(source.parse(text, name="s.yaml"), contracts=known), known) for text in plans)
    assert one.steps == two.steps
    assert "rewrite-join" not in {step.component for step in one.steps}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("shards: 3", "shards: 0", "shards must be at least 1"),
        ("shards: 3", "shard: 2", "shard is counted from the step's `shards`; remove it here"),
        ("component: vllm-rewrite\n        backend: rules\n        shards: 3\n", "component: rewrite-join\n",
         "can't be rewrite-join here"),
    ],
)  # fmt: skip
def test_wrong_parts_are_refused(before: str, after: str, words: str):
    with pytest.raises(PlanError, match=words):
        check(source.parse(SHARDED.replace(before, after), name="s.yaml"), contracts=components.contracts())
