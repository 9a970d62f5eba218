"""What is wrong with a plan's gate and with what it publishes: rules that no audit could keep, unknown names."""

from collections.abc import Iterator

from pipelines.faults import Fault, choose
from pipelines.schema import Plan, Rule, Target


def faults(plan: Plan) -> Iterator[Fault]:
    """Everything that is wrong with the gate."""
    known = {
        "metric": _metrics(plan),
        "condition": [condition.name for condition in plan.conditions],
        "target": [target.label for target in plan.targets],
    }
    for index, rule in enumerate(plan.gate):
        found = list(_unknown(rule, known)) or [*_bound(rule), *_against(rule, plan), *_not_run(rule, plan)]
        if (rule.at_most is None) == (rule.at_least is None):
            found.append(("", "needs one of `at_most` and `at_least`."))
        yield from (Fault(("gate", index, *([key] if key else [])), sentence) for key, sentence in found)


def publish_faults(plan: Plan) -> Iterator[Fault]:
    """A condition and a target to publish that the landscape will not have, or that are not named."""
    given = {key: value for key, value in plan.publish.items() if isinstance(value, str)}
    conditions = {condition.name: condition for condition in plan.conditions}
    targets = {target.label: target for target in plan.targets}
    name, label = given.get("condition", ""), given.get("target", "")
    if label and label not in targets:
        yield Fault(("publish", "target"), f"is no target of this plan: {choose(label, targets)}")
    elif name and name not in conditions:
        yield Fault(("publish", "condition"), f"is no condition: {choose(name, conditions)}")
    elif not name and (given.get("registry") or given.get("mlflow")):
        yield Fault(("publish",), "needs a `condition`: the one whose figures go to `registry` or `mlflow`.")
    elif name and not label and len(targets) > 1:
        yield Fault(("publish",), f"needs a `target`: there are {', '.join(targets)}.")
    elif name and not conditions[name].applies_to(targets[label] if label else plan.targets[0]):
        yield Fault(("publish", "condition"), f"is not run on {label or plan.targets[0].label}.")


def _unknown(rule: Rule, known: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Names that the plan does not have."""
    words = {"metric": "no metric of this plan", "condition": "no condition", "target": "no target of this plan"}
    for key, names in known.items():
        given = getattr(rule, key)
        if given not in names and (given or key != "target"):
            yield key, f"is {words[key]}: {choose(given, names)}"


def _bound(rule: Rule) -> Iterator[tuple[str, str]]:
    from leakscape.landscape.catalogue import BOUNDS_FROM_BELOW

    if rule.metric in BOUNDS_FROM_BELOW and rule.bound == "high":
        yield "bound", f"must be low: {rule.metric} is a bound from below, with no high end."


def _against(rule: Rule, plan: Plan) -> Iterator[tuple[str, str]]:
    """References that there are no paired changes against."""
    from leakscape.gate.drift import PAIRED
    from leakscape.gate.rules import LAST
    from leakscape.landscape.catalogue import EXTRACTION_RATES
    from leakscape.scoring.metrics import METRICS

    if not rule.against:
        return
    references = [LAST, *dict.fromkeys(name for target in _targets(rule, plan) for name in _references(plan, target))]
    paired = PAIRED if rule.against == LAST else (*METRICS, *EXTRACTION_RATES)
    if rule.against not in references:
        yield "against", f"can't be {rule.against}: {choose(rule.against, references)}"
    elif rule.against == rule.condition:
        yield "against", f"can't be {rule.against}: that is the rule's own condition."
    elif rule.metric not in paired:
        yield "against", f"can't be {rule.against} for {rule.metric}: such changes are told of {', '.join(paired)}."


def _not_run(rule: Rule, plan: Plan) -> Iterator[tuple[str, str]]:
    """A rule on a target that its condition, or what it is held against, is not run on, would always fail."""
    from leakscape.gate.rules import LAST

    conditions = {condition.name: condition for condition in plan.conditions}
    for target in _targets(rule, plan):
        if not conditions[rule.condition].applies_to(target):
            lacking = f"{rule.condition} is not run on {target.label}"
        elif rule.against not in ("", LAST, *_references(plan, target)) and rule.against in conditions:
            lacking = f"{target.label} has no {rule.against} to compare with"
        else:
            continue
        yield "", f"would always fail, as {lacking}; set its `target`."


def _targets(rule: Rule, plan: Plan) -> list[Target]:
    """What the rule is about."""
    return [target for target in plan.targets if rule.target in ("", target.label)]


def _references(plan: Plan, target: Target) -> list[str]:
    """The conditions that a landscape compares the others of a target with: the first untouched one, and direct."""
    there = [condition for condition in plan.conditions if condition.applies_to(target)]
    untouched = [condition.name for condition in there if condition.untouched]
    return [*untouched[:1], *(condition.name for condition in there if condition.name == "direct")]


def _metrics(plan: Plan) -> list[str]:
    """Every metric that an audit of this plan may have a figure for."""
    from leakscape.landscape.catalogue import CATALOGUE, HARNESS

    given = [*(target.evaluate for target in plan.targets), *(condition.evaluate for condition in plan.conditions)]
    tasks = [task for settings in given for task in settings.get("harness_tasks", []) if isinstance(task, str)]
    return [*CATALOGUE, *dict.fromkeys(f"{HARNESS}{task.rstrip('/').rpartition('/')[2]}" for task in tasks)]
