"""The gate and the past on the page, from verdicts made by hand."""

from gate_fakes import SMALL, held, verdict

from leakscape.landscape.charts.trend import trend
from leakscape.landscape.report.gate import gate, since_last
from leakscape.landscape.schema import Estimate
from leakscape.landscape.verdict import Drift, Past

TIMES = "\N{MULTIPLICATION SIGN}"
(TARGET,) = SMALL.targets
PAST = [
    Past(
        audit=f"{number:02d}" * 32, date=f"2026-0{number}-01T03:00:00+00:00", passed=number != 2,
        figures={"direct": {"exposure_bits": Estimate(value=5.0 + number / 10, low=4.0, high=6.0, n=20)}},
    )
    for number in (1, 2)
]  # fmt: skip


def drift(p_holm: float) -> Drift:
    return Drift(
        value=0.5, low=0.4, high=0.6, n=20, target="tiny", condition="direct", metric="verbatim_perplexity",
        scale="ratio", p=p_holm / 2, p_holm=p_holm,
    )  # fmt: skip


def test_without_a_verdict_there_is_neither_gate_nor_past():
    assert gate(TARGET, None).empty
    assert since_last(TARGET, None, "0", "95 %").empty
    assert gate(TARGET, verdict()).empty


def test_the_gate_says_which_condition_fails_and_by_which_rule():
    section = gate(TARGET, verdict(held("failed"), held("passed", condition="dp-8"), notes=["Mind this."]))
    assert section.finding == "The gate fails, for direct"
    assert section.notes == ["Mind this."]
    first, second = section.tables[0].rows
    assert [cell.text for cell in first.cells] == [
        "exposure_bits, high end ≤ 3", "6.00", "failed",
    ]  # fmt: skip
    assert [cell.sure for cell in first.cells] == [False, False, True]
    assert not any(cell.sure for cell in second.cells)
    assert gate(TARGET, verdict(held("passed"), held("skipped"))).finding == "The gate passes"
    assert gate(TARGET, verdict(held("unmeasured"))).finding == "The gate fails, for direct"


def test_rules_on_changes_say_what_they_change_from():
    section = gate(
        TARGET, verdict(held("passed", against="last"), held("passed", against="none", limit_kind="at_least"))
    )
    assert [row.cells[0].text for row in section.tables[0].rows] == [
        "change in exposure_bits since the last audit, high end ≤ 3",
        "change in exposure_bits against none, high end ≥ 3",
    ]


def test_changes_are_called_so_only_where_the_test_is_sure():
    sure = since_last(TARGET, verdict(drift=[drift(0.01)], history={"tiny": PAST}), "0", "95 %")
    assert sure.finding == "direct changed since the last audit"
    assert [cell.text for cell in sure.tables[0].rows[0].cells] == [
        "verbatim_perplexity",
        f"{TIMES}0.500",
        "p = 0.01",
    ]
    unsure = since_last(TARGET, verdict(drift=[drift(0.2)], history={"tiny": PAST}), "0", "95 %")
    assert unsure.finding == "Nothing changed that can be told from chance"


def test_the_trend_has_every_audit_and_this_one():
    shown = trend(TARGET, PAST, "trend-0")
    for words in ("2026-01-01", "2026-02-01", "this audit", "Exposure, bits"):
        assert words in shown
    assert "3 audits from 2026-01-01 on" in shown
    assert trend(TARGET, PAST, "trend-0") == shown
    assert trend(TARGET, [], "trend-0") == ""
