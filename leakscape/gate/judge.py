"""A landscape, a gate and a history in, a verdict out."""

from collections.abc import Mapping, Sequence

from leakscape import schemas
from leakscape.gate import drift, history
from leakscape.gate.history import Entry
from leakscape.gate.rules import LAST, Rule, hold
from leakscape.landscape.catalogue import CATALOGUE
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import Landscape, Target
from leakscape.landscape.source import Measured
from leakscape.landscape.verdict import Past, Verdict

TREND = 30
"""Earlier audits that a verdict shows, at most."""


def verdict(
    landscape: Landscape,
    measured: Sequence[Measured],
    *,
    digest: str,
    rules: Sequence[Rule],
    earlier: Mapping[str, Sequence[Entry]],
    settings: Settings,
) -> Verdict:
    """Hold a landscape against its gate and its last audit.

    Args:
        landscape: what was found.
        measured: what it was made of.
        digest: of the landscape's artifact.
        rules: of the plan.
        earlier: by target, all entries of the history, the oldest first.
        settings: of the bootstrap and the tests.

    Raises:
        ContractError: a rule names a target that the landscape does not have.
    """
    past = {target: history.before(found, digest) for target, found in earlier.items()}
    by_target = {target.name: _of(target, measured) for target in landscape.targets}
    last = {name: past[name][-1] if past.get(name) else None for name in by_target}
    changes = drift.compare(by_target, last, settings)
    held = hold(landscape, rules, changes.drift, changes.skipped)
    return Verdict(
        schema=schemas.VERDICT,
        plan=plan_name(landscape),
        landscape=digest,
        passed=all(rule.kept for rule in held),
        rules=held,
        drift=changes.drift,
        history={name: [_past(entry) for entry in found[-TREND:]] for name, found in sorted(past.items()) if found},
        notes=_notes(landscape, rules, last),
    )


def plan_name(landscape: Landscape) -> str:
    """The plan that a landscape belongs to."""
    return str(landscape.plan.get("name") or "landscape")


def entries(landscape: Landscape, measured: Sequence[Measured], found: Verdict) -> list[Entry]:
    """What the history keeps of an audit, one entry a target, not yet dated.

    Args:
        landscape: what was found.
        measured: what it was made of.
        found: the verdict on the landscape.
    """
    return [_entry(target, _of(target, measured), found) for target in landscape.targets]


def _of(target: Target, measured: Sequence[Measured]) -> list[Measured]:
    return [item for item in measured if item.summary.target == target.name]


def _entry(target: Target, measured: Sequence[Measured], found: Verdict) -> Entry:
    return Entry(
        schema=history.SCHEMA,
        plan=found.plan,
        target=target.name,
        audit=found.landscape,
        date="",
        passed=all(rule.kept for rule in found.rules if rule.target == target.name),
        figures={
            item.name: {name: figure.alone for name, figure in item.metrics.items()} for item in target.conditions
        },
        scores=drift.scores_of(measured),
        **drift.probed(measured),
    )


def _past(entry: Entry) -> Past:
    return Past(audit=entry.audit, date=entry.date, passed=entry.passed, figures=entry.figures)


def _notes(landscape: Landscape, rules: Sequence[Rule], last: Mapping[str, Entry | None]) -> list[str]:
    notes = []
    if not rules:
        notes.append("The plan has no gate: nothing was held against a limit.")
    elif not any(_side(rule.metric) == "capability" for rule in rules):
        notes.append("No rule asks for capability: a defence that teaches the model nothing would pass.")
    if any(rule.against == LAST for rule in rules):
        # A leak that a rule on drift reported once is the next audit's own past.
        notes += [
            f"{name}: the last audit did not pass its gate, so no change since then is no sign of safety."
            for name, entry in last.items()
            if entry is not None and not entry.passed
        ]
    for target in landscape.targets:
        notes += [f"{target.name}: {departure}" for departure in target.departures]
    return notes


def _side(metric: str) -> str:
    entry = CATALOGUE.get(metric)
    return entry.side if entry else "capability" if metric.startswith("harness_") else ""
