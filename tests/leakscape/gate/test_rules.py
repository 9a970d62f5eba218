import pytest
from gate_fakes import SMALL, condition, figure, landscape
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import ContractError
from leakscape.gate.rules import Rule, hold, read_rules
from leakscape.landscape.verdict import Drift

EXPOSURE = {"metric": "exposure_bits", "condition": "direct", "bound": "high", "at_most": 3.0}


def outcome(
    rule: dict[str, object], drift: tuple[Drift, ...] = (), skipped: dict[tuple[str, str, str], str] | None = None
):
    (held,) = hold(SMALL, read_rules([rule]), drift, skipped or {})
    return held


def test_the_bound_counts_and_not_the_figure():
    # dp-8: 1.6 bits, from 1.0 to 2.4. A limit of 2 is kept by the figure, not by the bound.
    rule = {"metric": "exposure_bits", "condition": "dp-8", "bound": "high"}
    assert outcome({**rule, "at_most": 2.5}).outcome == "passed"
    assert outcome({**rule, "at_most": 2.4}).outcome == "passed"
    held = outcome({**rule, "at_most": 2.0})
    assert held.outcome == "failed"
    assert held.reason == "2.4 is not at most 2 (measured 1.6, n 20)."


def test_capability_keeps_to_a_limit_from_the_other_side():
    rule = {"metric": "held_out_perplexity", "condition": "direct", "bound": "low"}
    assert outcome({**rule, "at_least": 2.9}).outcome == "passed"
    assert outcome({**rule, "at_least": 2.95}).outcome == "failed"


def test_what_was_not_measured_does_not_pass():
    held = outcome({"metric": "extraction_rate", "condition": "dp-8", "bound": "high", "at_most": 1})
    assert held.outcome == "unmeasured"
    assert held.reason == "extraction_rate has no figure: extraction was left out."
    assert outcome({**EXPOSURE, "metric": "no_such"}).outcome == "unmeasured"
    held = outcome({**EXPOSURE, "condition": "gone"})
    assert (held.outcome, held.reason) == ("unmeasured", "gone was not measured on tiny.")


def test_an_interval_without_an_end_does_not_pass():
    one = landscape(condition("direct", {"exposure_bits": figure(1.0, None, None, 1)}))
    (held,) = hold(one, read_rules([{**EXPOSURE, "at_most": 99}]), (), {})
    assert held.outcome == "unmeasured"
    assert held.reason.startswith("the interval has no high end")


def test_a_difference_to_another_condition():
    # direct leaks 3.6 to 5.4 bits more than the untouched model.
    rule = {**EXPOSURE, "against": "none"}
    assert outcome({**rule, "at_most": 5.4}).outcome == "passed"
    assert outcome({**rule, "at_most": 5.3}).outcome == "failed"
    assert outcome({**rule, "against": "dp-8"}).outcome == "unmeasured"


def test_a_change_since_the_last_audit():
    change = Drift(
        value=0.4, low=0.1, high=0.8, n=20, target="tiny", condition="direct", metric="exposure_bits",
        scale="difference", p=0.01, p_holm=0.02,
    )  # fmt: skip
    rule = {**EXPOSURE, "against": "last", "bound": "low", "at_most": 0.0}
    assert outcome(rule, (change,)).outcome == "failed"
    assert outcome({**rule, "at_most": 0.2}, (change,)).outcome == "passed"
    why = {("tiny", "direct", "exposure_bits"): "there is no earlier audit of this plan and target."}
    held = outcome(rule, skipped=why)
    assert (held.outcome, held.reason) == ("skipped", "there is no earlier audit of this plan and target.")
    assert outcome(rule).outcome == "unmeasured"


def test_a_rule_without_a_target_is_about_all():
    two = landscape(*SMALL.targets[0].conditions, targets=("a", "b"))
    assert [held.target for held in hold(two, read_rules([EXPOSURE]), (), {})] == ["a", "b"]
    assert [held.target for held in hold(two, read_rules([{**EXPOSURE, "target": "b"}]), (), {})] == ["b"]
    with pytest.raises(ContractError, match="c is no target"):
        hold(two, read_rules([{**EXPOSURE, "target": "c"}]), (), {})


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ([{**EXPOSURE, "at_least": 1.0}], "needs one limit"),
        ([{key: value for key, value in EXPOSURE.items() if key != "at_most"}], "needs one limit"),
        ([{**EXPOSURE, "bound": "middle"}], "0 bound does not fit a rule"),
        ([{"metric": "exposure_bits"}], "does not fit a rule"),
        (["exposure_bits < 3"], "0 does not fit a rule"),
        ([{**EXPOSURE, "at_most": float("nan")}], "0 at_most does not fit a rule"),
        ([{**EXPOSURE, "at_most": "3"}], "0 at_most does not fit a rule"),
        ([{**EXPOSURE, "at_mots": 3}], "0 at_mots does not fit a rule"),
    ],
)
def test_rules_of_another_form_are_refused(stated: list[object], words: str):
    with pytest.raises(ContractError, match=words):
        read_rules(stated)


@given(st.floats(-100, 100), st.floats(0, 10), st.floats(0, 10), st.floats(-100, 100))
def test_a_rule_passes_only_if_the_whole_interval_on_its_side_keeps_to_the_limit(
    value: float, below: float, above: float, limit: float
):
    one = landscape(condition("direct", {"exposure_bits": figure(value, value - below, value + above)}))
    (upper,) = hold(one, [Rule(metric="exposure_bits", condition="direct", bound="high", at_most=limit)], (), {})
    (lower,) = hold(one, [Rule(metric="exposure_bits", condition="direct", bound="low", at_least=limit)], (), {})
    assert (upper.outcome == "passed") == (value + above <= limit)
    assert (lower.outcome == "passed") == (value - below >= limit)
    if upper.outcome == "passed":
        assert value <= limit
