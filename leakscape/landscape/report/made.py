"""What has no figure, and how those that there are were made."""

import json
from dataclasses import dataclass
from typing import Any

from leakscape.landscape.catalogue import CATALOGUE
from leakscape.landscape.schema import Condition, Evidence, Landscape, Target
from leakscape.landscape.words import DASH

_LONG = 12  # values of a list that are shown one by one
_MOST_IDS = 5


@dataclass(frozen=True, slots=True)
class Chain:
    """How a condition's figures were made: facts of its own, and of each artifact behind it."""

    name: str
    summary: str
    facts: list[tuple[str, str]]
    evidence: list[tuple[str, list[tuple[str, str]]]]


def unmeasured(target: Target, landscape: Landscape) -> list[str]:
    """What has no figure, what was left out of one, and what was never run."""
    titles = {name: entry.title for name, entry in {**CATALOGUE, **landscape.catalogue}.items()}
    reasons: dict[tuple[str, str], list[str]] = {}
    for item in target.conditions:
        for gap in item.unmeasured:
            title = titles.get(gap.metric, gap.metric)
            reasons.setdefault((title, gap.reason), []).append(item.name)
    everywhere = len(target.conditions)
    said = [
        f"{title} ({'all conditions' if len(names) == everywhere else ', '.join(names)}): {reason}."
        for (title, reason), names in reasons.items()
    ]
    for item in target.conditions:
        for probe, counts in item.probes.items():
            if counts.unscorable:
                ids = ", ".join(sorted(gap["id"] for gap in counts.unscorable)[:_MOST_IDS])
                more = ", ..." if len(counts.unscorable) > _MOST_IDS else ""
                said.append(f"{item.name}, {probe}: {len(counts.unscorable)} without a score, left out ({ids}{more}).")
    said += [f"{name}: in the plan, but no measurement was given." for name in target.missing]
    return said


def chains(target: Target) -> list[Chain]:
    """Every condition's."""
    return [
        Chain(item.name, item.summary, _facts(item), [_evidence(part) for part in item.made.evidence])
        for item in target.conditions
    ]


def _facts(item: Condition) -> list[tuple[str, str]]:
    made = item.made
    facts = [("Measurements", made.measurements), *(("Adapter", digest) for digest in made.adapters)]
    facts += [("Corpus", digest) for digest in made.corpora]
    if item.training_seconds is not None:
        facts.append(("Training", f"{item.training_seconds:,.0f} s"))
    if item.privacy:
        facts.append(("Privacy spent", _plain(item.privacy)))
    straddling = {probe: counts.straddling for probe, counts in item.probes.items() if counts.straddling}
    if straddling:
        facts.append(("Targets that begin within a token", _plain(straddling)))
    facts += [("Settings", _plain(made.settings)), ("Versions", _plain(made.versions))]
    return [*facts, ("Inputs", _plain(made.inputs))]


def _evidence(found: Evidence) -> tuple[str, list[tuple[str, str]]]:
    facts = [("Digest", found.digest), ("Arguments", _plain(found.arguments))]
    if found.summary:
        facts.append(("Summary", _plain(found.summary)))
    if found.seconds:
        facts.append(("Seconds", _plain({key: round(value, 1) for key, value in found.seconds.items()})))
    facts += [("Inputs", _plain(found.inputs)), ("Versions", _plain(found.versions))]
    return f"{found.kind} of {found.component or 'an unnamed component'}", facts


def _plain(values: dict[str, Any]) -> str:
    """A dictionary on one line, nested ones as JSON."""
    if not values:
        return DASH
    return " · ".join(f"{key} {_short(value)}" for key, value in values.items())


def _short(value: Any) -> str:  # noqa: ANN401 - whatever a manifest holds
    """A value as JSON; of a long list its length and its ends."""
    if isinstance(value, list) and len(value) > _LONG:
        return f"{len(value)} values from {_short(value[0])} to {_short(value[-1])}"
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
