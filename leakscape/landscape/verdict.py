"""verdict.json, typed. docs/gate.md explains it key by key."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError
from leakscape.landscape.schema import Estimate
from leakscape.typed_json import field_of, read_json

FILE = "verdict.json"
ENTRIES = "entries.jsonl"

Outcome = Literal["passed", "failed", "unmeasured", "skipped"]


@dataclass(frozen=True, kw_only=True)
class Held:
    """One rule, held against one target.

    Args:
        rule: the rule in words.
        metric, condition, target: what it is about.
        against: empty for the figure itself; `last` or a condition's name for a change.
        bound: the end of the interval that counts.
        limit: the number it must keep to.
        limit_kind: whether the bound must be `at_most` or `at_least` the limit.
        estimate: the figure or the change; null where there is none.
        outcome: `unmeasured` fails the gate like `failed`: what has no figure or no interval is not shown to be safe.
            `skipped` does not: there is no earlier audit to compare with.
        reason: why, in a sentence.
    """

    rule: str
    metric: str
    condition: str
    target: str
    against: str
    bound: Literal["low", "high"]
    limit: float
    limit_kind: Literal["at_most", "at_least"]
    estimate: Estimate | None
    outcome: Outcome
    reason: str

    @property
    def kept(self) -> bool:
        """Whether the gate lets it pass."""
        return self.outcome in ("passed", "skipped")


@dataclass(frozen=True, kw_only=True)
class Drift(Estimate):
    """A metric of a condition against the last audit's, paired by canary or record.

    `scale` as in a landscape's difference: `ratio` (now over then) or `difference`; p two-sided by sign flips, p_holm
    corrected over all that is compared with the last audit.
    """

    target: str
    condition: str
    metric: str
    scale: Literal["ratio", "difference"]
    p: float
    p_holm: float


@dataclass(frozen=True, kw_only=True)
class Past:
    """What one audit found, as the history keeps it: figures by condition and metric."""

    audit: str
    date: str
    passed: bool
    figures: dict[str, dict[str, Estimate]]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What verdict.json holds.

    Args:
        schema: the name and version of this form.
        plan: the plan's name.
        landscape: the digest of the landscape that was judged.
        passed: whether no rule failed and none was unmeasured; true where there are no rules.
        rules: each rule, once for each target it is about.
        drift: against the last audit; empty without one.
        history: by target, the audits before this one, the oldest first.
        notes: what a reader must know beside the rules, in sentences.
    """

    schema: str
    plan: str
    landscape: str
    passed: bool
    rules: list[Held]
    drift: list[Drift] = field(default_factory=list)
    history: dict[str, list[Past]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[Held]:
        """The rules that the gate fails for."""
        return [rule for rule in self.rules if not rule.kept]


def read(path: Path) -> Verdict:
    """Open and verify a verdict artifact, or read a `verdict.json` that was copied out of one.

    Raises:
        ArtifactError: nothing is there, a hash does not fit, a key does not, or `passed` is not what the rules say.
    """
    file = artifacts.load(path, schema=schemas.VERDICT).file(FILE) if path.is_dir() else path
    if not file.is_file():
        raise ArtifactError(f"{file} does not exist; name a verdict artifact or a {FILE}.")
    try:
        found = TypeAdapter(Verdict).validate_json(json.dumps(read_json(file)), strict=True)
    except ValidationError as error:
        raise ArtifactError(f"{file}: {field_of(error)} does not fit a verdict; make it again.") from None
    if found.schema != schemas.VERDICT:
        raise ArtifactError(f"{file} does not hold {schemas.VERDICT}; make it again with this version.")
    if found.passed == bool(found.faults):
        raise ArtifactError(f"{file}: passed is not what its rules say; it was changed by hand, so make it again.")
    return found
