"""The rules of a gate: one bound of one metric's interval keeps to a limit.

A rule never looks at the point estimate: a figure from few canaries has a wide interval, and what is not shown to be
safe does not pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Strict, TypeAdapter, ValidationError

from leakscape.errors import ContractError
from leakscape.landscape.schema import Condition, Estimate, Landscape, Target
from leakscape.landscape.verdict import Drift, Held, Outcome
from leakscape.typed_json import field_of

LAST = "last"
"""What `against` says for a change since the last audit."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    Args:
        metric: a metric of landscape.json.
        condition: the condition it is about.
        bound: which end of the interval counts.
        target: the target it is about; empty for all.
        against: empty for the figure itself, `last` for its change since the last audit, or the name of the untouched
            or the direct condition for its difference from that; perplexities change by a ratio.
        at_most, at_least: the limit; one of them.
    """

    # Read by pydantic: a misspelt key must not leave a rule without its limit.
    __pydantic_config__: ClassVar[ConfigDict] = {"extra": "forbid", "allow_inf_nan": False}

    metric: str
    condition: str
    bound: Literal["low", "high"]
    target: str = ""
    against: str = ""
    at_most: Annotated[float | None, Strict()] = None
    at_least: Annotated[float | None, Strict()] = None

    @property
    def limit(self) -> tuple[Literal["at_most", "at_least"], float]:
        """Its kind and the number."""
        if self.at_most is not None:
            return "at_most", self.at_most
        if self.at_least is not None:
            return "at_least", self.at_least
        raise ContractError(f"--gate: the rule on {self.metric} of {self.condition} needs at_most or at_least.")

    @property
    def words(self) -> str:
        """The rule as a sentence has it."""
        kind, limit = self.limit
        what = f"{self.metric} of {self.condition}"
        if self.against:
            what = f"change in {what} against {'the last audit' if self.against == LAST else self.against}"
        return f"{what}, {self.bound} end of its interval, {kind.replace('_', ' ')} {limit:g}"


def read_rules(stated: Sequence[Any]) -> tuple[Rule, ...]:
    """Rules as a plan states them.

    Raises:
        ContractError: a rule has another form.
    """
    try:
        rules = TypeAdapter(tuple[Rule, ...]).validate_python(stated)
    except ValidationError as error:
        place = field_of(error, whole="the list", between=" ")
        raise ContractError(f"--gate: {place} does not fit a rule; see docs/gate.md.") from None
    for rule in rules:
        if (rule.at_most is None) == (rule.at_least is None):
            raise ContractError(f"--gate: the rule on {rule.metric} of {rule.condition} needs one limit.")
    return rules


def hold(
    landscape: Landscape, rules: Sequence[Rule], drift: Sequence[Drift], skipped: Mapping[tuple[str, str, str], str]
) -> list[Held]:
    """Hold every rule against every target that it is about.

    Args:
        landscape: what was found.
        rules: from `read_rules`.
        drift: changes since the last audit.
        skipped: by target, condition and metric, why there is no change to tell.

    Raises:
        ContractError: a rule names a target that the landscape does not have.
    """
    known = {target.name for target in landscape.targets}
    for rule in rules:
        if rule.target and rule.target not in known:
            raise ContractError(f"--gate: {rule.target} is no target of this landscape.")
    return [
        _held(rule, target, drift, skipped)
        for rule in rules
        for target in landscape.targets
        if rule.target in ("", target.name)
    ]


@dataclass(frozen=True)
class _Seen:
    """What a rule looks at, or the outcome and its reason where there is nothing to look at."""

    estimate: Estimate | None = None
    outcome: Outcome = "unmeasured"
    reason: str = ""


def _held(rule: Rule, target: Target, drift: Sequence[Drift], skipped: Mapping[tuple[str, str, str], str]) -> Held:
    condition = next((item for item in target.conditions if item.name == rule.condition), None)
    if condition is None:
        seen = _Seen(reason=f"{rule.condition} was not measured on {target.name}.")
    elif rule.against == LAST:
        seen = _since_last(rule, (target.name, rule.condition, rule.metric), drift, skipped)
    else:
        seen = _difference(rule, condition) if rule.against else _figure(rule, condition)
    if seen.estimate is not None:
        seen = _judged(rule, seen.estimate)
    kind, limit = rule.limit
    return Held(
        rule=rule.words,
        metric=rule.metric,
        condition=rule.condition,
        target=target.name,
        against=rule.against,
        bound=rule.bound,
        limit=limit,
        limit_kind=kind,
        estimate=seen.estimate,
        outcome=seen.outcome,
        reason=seen.reason,
    )


def _since_last(
    rule: Rule, place: tuple[str, str, str], drift: Sequence[Drift], skipped: Mapping[tuple[str, str, str], str]
) -> _Seen:
    found = next((item for item in drift if (item.target, item.condition, item.metric) == place), None)
    if found is not None:
        return _Seen(found.alone)
    if reason := skipped.get(place):
        return _Seen(outcome="skipped", reason=reason)
    return _Seen(reason=f"the history keeps nothing by which {rule.metric} could be paired.")


def _difference(rule: Rule, condition: Condition) -> _Seen:
    found = condition.differences.get(rule.against, {}).get(rule.metric)
    return _Seen(found.alone) if found else _Seen(reason=f"{rule.metric} has no paired difference to {rule.against}.")


def _figure(rule: Rule, condition: Condition) -> _Seen:
    found = condition.metrics.get(rule.metric)
    return _Seen(found.alone) if found else _Seen(reason=_why(rule, condition))


def _why(rule: Rule, condition: Condition) -> str:
    reason = next((gap.reason for gap in condition.unmeasured if gap.metric == rule.metric), "")
    return f"{rule.metric} has no figure: {reason or 'no such metric was measured'}."


def _judged(rule: Rule, estimate: Estimate) -> _Seen:
    end = estimate.low if rule.bound == "low" else estimate.high
    if end is None:
        reason = f"the interval has no {rule.bound} end: too few canaries or records, or beyond a number."
        return _Seen(estimate, "unmeasured", reason)
    kind, limit = rule.limit
    keeps = end <= limit if kind == "at_most" else end >= limit
    words = f"{end:.4g} {'is' if keeps else 'is not'} {kind.replace('_', ' ')} {limit:g}"
    measured = f"measured {estimate.value:.4g}, n {estimate.n}"
    return _Seen(estimate, "passed" if keeps else "failed", f"{words} ({measured}).")
