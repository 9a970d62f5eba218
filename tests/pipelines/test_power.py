import pytest
from plan_fakes import CONTRACTS, PLAN

import components
from leakscape.errors import ContractError, PlanError
from leakscape.statistics.power import detectable_difference
from pipelines import audit, foresight, source
from pipelines.compose import Graph, compose
from pipelines.plan import check, load
from pipelines.power import Power, dealt, power_of


def graph(name: str, *overrides: str) -> Graph:
    known = components.contracts()
    return audit.graph(load(name, overrides=list(overrides), contracts=known), known)


def power(name: str, *overrides: str) -> Power:
    (found,) = power_of(graph(name, *overrides))
    return found


def test_canaries_are_dealt_as_canary_insert_deals_them():
    """16 canaries in four groups; 18 in four: the first two groups have one more, and rotation moves them along."""
    assert dealt(graph("laptop")) == {1: 4, 4: 4, 16: 4, 32: 4}
    assert dealt(graph("laptop", "canaries.count=18")) == {1: 5, 4: 5, 16: 4, 32: 4}
    assert dealt(graph("laptop", "canaries.count=18", "canaries.rotation=1")) == {1: 4, 4: 5, 16: 5, 32: 4}
    tossed = dealt(graph("paper-main", "canaries.count=200", "canaries.inclusion=coin"))
    assert tossed.total() == 200
    assert 70 < tossed[0] < 130


def test_the_laptop_plan_is_a_weak_one():
    found = power("laptop")
    assert (found.comparisons, found.candidates, found.records) == (6, 201, 60)
    assert "of false-positive rates 1 % and 0.1 % can't." in " ".join(foresight.power_text([found]).split())
    assert found.level == pytest.approx(0.05 / 6)
    whole, *groups = found.groups
    assert (whole.canaries, whole.multiplicity) == (16, None)
    # d of the paired t test at .05 / 6 and n 16 is 0.9863; the null deviation among 201 names is 1.3738.
    assert whole.paired_bits == pytest.approx(0.9863 * 1.3738, abs=1e-3)
    assert [(group.multiplicity, group.paired_bits, group.smallest_p) for group in groups] == [
        (copies, None, 0.125) for copies in (1, 4, 16, 32)
    ]
    assert [rate.resolved for rate in found.rates] == [False, False]
    assert "can find little" in found.warnings[0]
    assert "x1, x4, x16, x32: too few canaries" in found.warnings[1]


def test_the_paper_s_plan_shows_the_same_of_both_models():
    found = power("paper-main")
    assert found.targets == ("qwen3.5-4b", "gpt-oss-20b")
    assert found.warnings == ()
    # Six conditions are compared, and within multiplicities six times five: the levels are .05 / 6 and .05 / 30.
    levels = [0.05 / 6, *[0.05 / 30] * 5]
    expected = [
        detectable_difference(group.canaries, sd=found.null_sd, alpha=level, paired=True)
        for group, level in zip(found.groups, levels, strict=True)
    ]
    assert [group.paired_bits for group in found.groups] == pytest.approx(expected)
    assert [group.at_most_if_none for group in found.groups][:2] == pytest.approx([0.0362, 0.1684], abs=1e-4)
    assert [rate.resolved for rate in found.rates] == [True, False]


def test_coins_show_at_most_so_large_an_epsilon():
    coins = ("canaries.count=200", "canaries.multiplicities=[1]", "canaries.inclusion=coin")
    found = power("paper-epsilon", *coins)
    assert found.epsilon == pytest.approx(3.49, abs=0.006)
    assert found.left_out + found.groups[0].canaries == 200
    assert "epsilon is at least 3.49 (delta 1e-05)" in " ".join(foresight.power_text([found]).split())
    assert power("paper-epsilon").epsilon is None
    (warning,) = found.warnings
    assert warning.startswith("The coins can show at most 3.49, so they can't refute a claim of epsilon 64;")


def test_copies_and_records_do_not_compare():
    (mixed,) = [text for text in power("paper-epsilon", "canaries.inclusion=coin").warnings if "all its copies" in text]
    assert "`multiplicities` is [1]" in mixed
    people = [f"conditions.dp-{epsilon}.train.unit=person" for epsilon in (8, 16, 32, 64)]
    assert not [
        text for text in power("paper-epsilon", "canaries.inclusion=coin", *people).warnings if "copies" in text
    ]


def test_the_number_of_canaries_for_a_wanted_difference():
    (found,) = power_of(graph("paper-epsilon", "canaries.alternatives=6300"), bits=[0.8])
    (need,) = found.needed
    more = power("paper-epsilon", f"canaries.count={need.paired}")
    fewer = power("paper-epsilon", f"canaries.count={need.paired - 1}")
    assert more.groups[0].paired_bits is not None
    assert fewer.groups[0].paired_bits is not None
    assert more.groups[0].paired_bits <= 0.8 < fewer.groups[0].paired_bits


def test_targets_that_differ_stand_apart():
    found = power_of(graph("paper-main", "targets.gpt-oss-20b.evaluate.alternatives=200"))
    assert [(one.targets, one.candidates) for one in found] == [(("qwen3.5-4b",), 6301), (("gpt-oss-20b",), 201)]
    assert "What this plan can show of gpt-oss-20b" in foresight.power_text(found)


def test_without_exposure_and_membership_only_counts_are_left():
    found = power("laptop", "targets.0.evaluate.alternatives=0", "targets.0.evaluate.membership_records=0")
    assert (found.candidates, found.needed, found.records) == (0, (), 0)
    assert found.groups[0].unpaired_bits is None
    assert found.warnings[0].startswith("Exposure is not measured")


def test_groups_without_canaries_are_refused_before_anything_runs():
    with pytest.raises(ContractError, match="at least 4"):
        power_of(graph("laptop", "canaries.count=3"))


def test_more_canaries_than_records_are_refused_before_anything_runs():
    with pytest.raises(PlanError, match=r"161 canaries .* population.train_count is 160"):
        power_of(graph("laptop", "canaries.count=161"))


def test_contracts_that_know_less_are_read_too():
    """The small contracts of the tests have no alternatives and no membership."""
    (found,) = power_of(compose(check(source.parse(PLAN, name="p.yaml"), contracts=CONTRACTS), CONTRACTS))
    assert (found.comparisons, found.candidates, found.records) == (3, 0, 0)
