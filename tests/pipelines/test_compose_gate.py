import pytest
from plan_fakes import PLAN, graph

from leakscape.errors import PlanError
from pipelines.compose import Ref

GATE = "gate:\n  - {metric: exposure_bits, condition: scrub, bound: high, at_most: 2}\n"


def test_a_gate_stands_last_after_all_is_published():
    found = graph(f"{PLAN}{GATE}", "report.history=s3://audits/nightly")
    landscape, publish, gate = found.steps[-3:]
    assert [step.component for step in (landscape, publish, gate)] == ["landscape", "publish", "enforce"]
    assert landscape.parameters["gate"] == [
        {"metric": "exposure_bits", "condition": "scrub", "target": "", "against": "", "bound": "high", "at_most": 2.0}
    ]
    assert landscape.parameters["history"] == publish.parameters["history"] == "s3://audits/nightly"
    assert publish.needs == (landscape.id,)
    assert gate.inputs == {
        "verdict": (Ref(landscape.id, "verdict"),),
        "published": (Ref(publish.id, "published"),),
    }


def test_a_history_alone_is_published_without_a_gate():
    found = graph(PLAN, "report.history=audits/history")
    assert [step.component for step in found.steps[-2:]] == ["landscape", "publish"]
    assert [step.component for step in graph(PLAN).steps[-1:]] == ["landscape"]


def test_publish_may_not_name_another_history():
    with pytest.raises(PlanError, match=r"publish\.history is the report's `history`"):
        graph(f"{PLAN}publish:\n  history: elsewhere\n")
