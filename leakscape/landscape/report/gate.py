"""The sections on the gate and on what changed since the last audit."""

from leakscape.landscape.charts.trend import trend
from leakscape.landscape.report.parts import Cell, Head, Row, Section, Table, estimate_cell, pictures, tables
from leakscape.landscape.schema import Target
from leakscape.landscape.verdict import Drift, Held, Verdict
from leakscape.landscape.words import SURE, TIMES, listed, number, p_value, span

_OUTCOMES = {
    "passed": "passed", "failed": "failed", "unmeasured": "failed: not shown to be safe",
    "skipped": "nothing to compare with",
}  # fmt: skip


def gate(target: Target, verdict: Verdict | None) -> Section:
    """Each rule of the plan's gate, and how it ended."""
    held = [] if verdict is None else [rule for rule in verdict.rules if rule.target == target.name]
    rows = [
        Row(
            rule.condition,
            [
                Cell(_rule(rule)),
                estimate_cell(rule.estimate),
                _outcome(rule),
            ],
        )
        for rule in held
    ]
    heads = [Head("Rule"), Head("Measured", "with its interval"), Head("Outcome")]
    caption = (
        "A rule holds one end of an interval against a limit. What has no figure is not shown to be safe and fails; a "
        "change without an earlier audit is skipped."
    )
    notes = [] if verdict is None or not held else list(verdict.notes)
    return Section(
        "gate",
        "Gate",
        _gate_finding(held),
        notes=notes,
        tables=tables(Table("Rules of the gate", caption, heads, rows)),
    )


def _outcome(rule: Held) -> Cell:
    """In bold where the gate fails; why, where there is nothing to compare."""
    why = rule.reason if rule.outcome in ("unmeasured", "skipped") else ""
    return Cell(_OUTCOMES[rule.outcome], why, key=rule.outcome, sure=not rule.kept)


def _rule(rule: Held) -> str:
    against = {"": "", "last": " since the last audit"}.get(rule.against, f" against {rule.against}")
    what = f"change in {rule.metric}{against}" if rule.against else rule.metric
    return f"{what}, {rule.bound} end {'≤' if rule.limit_kind == 'at_most' else '≥'} {rule.limit:g}"


def _gate_finding(held: list[Held]) -> str:
    failed = list(dict.fromkeys(rule.condition for rule in held if not rule.kept))
    if failed:
        return f"The gate fails, for {listed(failed)}"
    return "The gate passes" if held else ""


def since_last(target: Target, verdict: Verdict | None, name: str, level: str) -> Section:
    """What changed since the last audit, paired, and all audits side by side."""
    past = [] if verdict is None else verdict.history.get(target.name, [])
    drift = [] if verdict is None else [item for item in verdict.drift if item.target == target.name]
    caption = (
        f"The audits of this plan and target in their order, with {level} intervals. Dashed: the gate failed. Audits "
        "on other canaries stand here side by side too, but only those on the same ones are compared pair by pair."
    )
    rows = [Row(item.condition, [Cell(item.metric), *_changed(item)]) for item in drift]
    heads = [Head("Metric"), Head("Change", "by factor or difference"), Head("p", "corrected (Holm)")]
    table = Table(
        "Changes since the last audit",
        "Paired by canary or record with the audit before; bold below 0.05 after correction.",
        heads,
        rows,
        sortable=True,
    )
    return Section(
        "history", "Since the last audit", _drift_finding(drift),
        pictures(trend(target, past, f"trend-{name}"), caption=caption), tables=tables(table),
    )  # fmt: skip


def _changed(item: Drift) -> list[Cell]:
    sign = TIMES if item.scale == "ratio" else "+" if item.value > 0 else ""
    return [
        Cell(f"{sign}{number(item.value)}", span(item), key=repr(item.value)),
        Cell(p_value(item.p_holm), key=repr(item.p_holm), sure=item.p_holm < SURE),
    ]


def _drift_finding(drift: list[Drift]) -> str:
    if not drift:
        return ""
    sure = list(dict.fromkeys(item.condition for item in drift if item.p_holm < SURE))
    return f"{listed(sure)} changed since the last audit" if sure else "Nothing changed that can be told from chance"
