"""A plan's parameters held against the contracts of the components they are for, and completed from them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from leakscape.contract import Field, Param, Spec, check, spec
from leakscape.errors import ContractError
from pipelines.faults import Fault, choose
from pipelines.schema import Condition, Parameters, Plan, Target, Use
from pipelines.source import Place

Contracts = Mapping[str, type[Any]]

POPULATION, CANARIES, EVALUATE, LANDSCAPE = "synthea-gen", "canary-insert", "evaluate", "landscape"
"""The components of the fixed frame: each plan has one population, one set of canaries and one landscape."""

PUBLISH, ENFORCE = "publish", "enforce"
"""The components of a plan with a gate or a history, after the landscape."""

JOINS = {"vllm-rewrite": "rewrite-join"}
"""Corpus steps that can be done in parts side by side, by `shards`, and the component that joins the parts."""

SHARDS, SHARD = "shards", "shard"

# What compose fills in, by the part of the plan, and where it comes from.
SUPPLIED = {
    "corpus": {SHARD: "counted from the step's `shards`"},
    "train": {"model": "the target's model", "revision": "the target's revision"},
    "evaluate": {
        "model": "the target's model",
        "revision": "the target's revision",
        "target": "the target's name",
        "condition": "the condition's name",
    },
    "report": {"plan": "the plan itself", "gate": "the plan's `gate`"},
    "publish": {"history": "the report's `history`"},
}


def complete(found: Spec, given: Parameters, *, seed: int) -> Parameters:
    """Every parameter of a component in the contract's order: given, or the plan's seed, or the default."""
    whole: Parameters = {}
    for field in found.params:
        if field.name in given:
            whole[field.name] = as_type(field, given[field.name])
        elif field.name == "seed":
            whole[field.name] = seed
        elif field.has_default:
            whole[field.name] = field.default
    return whole


def as_type(field: Field, value: object) -> Any:  # noqa: ANN401 - whatever the parameter's type is
    """The value as the component gets it: a whole number given for a real one becomes real."""
    if field.type is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def known_by(found: Spec, settings: Parameters) -> Parameters:
    """Those of a target's defaults that a component has a parameter for."""
    names = {field.name for field in found.params}
    return {name: value for name, value in settings.items() if name in names}


def trains(found: Spec) -> bool:
    """Whether a component is a trainer: it gives an adapter."""
    return "adapter" in kinds(found.outputs)


def works_on_corpus(found: Spec) -> bool:
    """Whether a component is a corpus step: a corpus in, and a corpus or a judgement of one out."""
    return "corpus" in kinds(found.inputs) and bool({"corpus", "judgements", "disclosures"} & set(kinds(found.outputs)))


def published(plan: Plan) -> bool:
    """Whether an audit leaves more behind than its report: a history, a verdict for other systems."""
    return bool(plan.gate or plan.publish or plan.report.get("history"))


def kinds(fields: Iterable[Field]) -> list[str]:
    """The artifact kinds of some fields."""
    return [field.role.kind for field in fields if not isinstance(field.role, Param)]


def stated(plan: Plan, found: Spec) -> Parameters:
    """What the landscape must know of the plan: enough to order and label its rows."""
    told: Parameters = {
        "name": plan.name,
        "description": plan.description,
        "seed": plan.seed,
        "targets": [
            {"name": target.label, "model": target.model, "revision": target.revision} for target in plan.targets
        ],
        "conditions": [
            # The targets only where they are not all: a condition is not missing where it was never meant to run.
            {"name": condition.name, "summary": condition.summary}
            | ({"targets": condition.targets} if condition.targets else {})
            for condition in plan.conditions
        ],
    }
    rules = [rule.model_dump(exclude_none=True) for rule in plan.gate]
    return known_by(found, {"plan": told, "gate": rules})


def parameter_faults(plan: Plan, contracts: Contracts) -> Iterator[Fault]:
    """Everything in a plan that no component takes, or takes differently."""
    yield from _frame_faults(plan, contracts)
    for index, condition in enumerate(plan.conditions):
        yield from _condition_faults(plan, condition, ("conditions", index), contracts)
    for index, target in enumerate(plan.targets):
        yield from _target_faults(plan, target, ("targets", index), contracts)


def _frame_faults(plan: Plan, contracts: Contracts) -> Iterator[Fault]:
    for name, key, given in (
        (POPULATION, "population", plan.population),
        (CANARIES, "canaries", plan.canaries),
        (LANDSCAPE, "report", plan.report),
        *([(PUBLISH, "publish", plan.publish)] if published(plan) else []),
    ):
        if name not in contracts:
            yield Fault((key,), f"needs the component {name}, which this installation lacks.")
            continue
        yield from _settings_faults(spec(contracts[name]), given, (key,), SUPPLIED.get(key, {}))
    if plan.gate and ENFORCE not in contracts:
        yield Fault(("gate",), f"needs the component {ENFORCE}, which this installation lacks.")
    if EVALUATE not in contracts:
        yield Fault(("conditions",), f"need the component {EVALUATE}, which this installation lacks.")


def _condition_faults(plan: Plan, condition: Condition, place: Place, contracts: Contracts) -> Iterator[Fault]:
    for number, use in enumerate(condition.corpus):
        frame = {CANARIES, *JOINS.values()}
        known = [name for name, found in contracts.items() if works_on_corpus(spec(found)) and name not in frame]
        yield from _use_faults(use, (*place, "corpus", number), known, contracts, supplied=SUPPLIED["corpus"])
    if condition.train is not None:
        known = [name for name, contract in contracts.items() if trains(spec(contract))]
        defaults = {name for target in plan.targets if condition.applies_to(target) for name in target.train}
        yield from _use_faults(
            condition.train, (*place, "train"), known, contracts, supplied=SUPPLIED["train"], elsewhere=defaults
        )
    if EVALUATE in contracts:
        found = spec(contracts[EVALUATE])
        defaults = {name for target in plan.targets if condition.applies_to(target) for name in target.evaluate}
        yield from _settings_faults(
            found, condition.evaluate, (*place, "evaluate"), SUPPLIED["evaluate"], elsewhere=defaults
        )


def _use_faults(
    use: Use,
    place: Place,
    known: list[str],
    contracts: Contracts,
    *,
    supplied: Mapping[str, str],
    elsewhere: Collection[str] = (),
) -> Iterator[Fault]:
    if use.component not in contracts:
        there_are = choose(use.component, known, all_of_them=True)
        yield Fault((*place, "component"), f"is an unknown component `{use.component}`: {there_are}")
    elif use.component not in known:
        yield Fault((*place, "component"), f"can't be {use.component} here: {choose('', known)}")
    else:
        found = spec(contracts[use.component])
        yield from _settings_faults(found, use.settings, place, supplied, elsewhere=elsewhere)


def _target_faults(plan: Plan, target: Target, place: Place, contracts: Contracts) -> Iterator[Fault]:
    used = {
        condition.train.component for condition in plan.conditions if condition.train and condition.applies_to(target)
    }
    trainers = [spec(contracts[name]) for name in sorted(used & contracts.keys())]
    yield from _default_faults(trainers, target.train, (*place, "train"), SUPPLIED["train"])
    if EVALUATE in contracts:
        found = [spec(contracts[EVALUATE])]
        yield from _default_faults(found, target.evaluate, (*place, "evaluate"), SUPPLIED["evaluate"])


def _default_faults(
    found: list[Spec], settings: Parameters, place: Place, supplied: Mapping[str, str]
) -> Iterator[Fault]:
    """A target's default must fit each component that has the parameter, and one must have it."""
    for name, value in settings.items():
        fields = [field for one in found for field in one.params if field.name == name]
        if name in supplied:
            yield Fault((*place, name), f"is {supplied[name]}; remove it here.")
        elif not fields and found:
            known = sorted({field.name for one in found for field in one.params} - supplied.keys())
            words = " or ".join(one.name for one in found)
            yield Fault((*place, name), f"is no parameter of {words}: {choose(name, known)}")
        for field in fields:
            yield from _value_faults(field, value, (*place, name))


def _settings_faults(
    found: Spec, given: Parameters, place: Place, supplied: Mapping[str, str], *, elsewhere: Collection[str] = ()
) -> Iterator[Fault]:
    fields = {field.name: field for field in found.params}
    for name, value in given.items():
        if name in supplied:
            yield Fault((*place, name), f"is {supplied[name]}; remove it here.")
        elif name not in fields:
            known = [known for known in fields if known not in supplied]
            yield Fault((*place, name), f"is no parameter of {found.name}: {choose(name, known)}")
        else:
            yield from _value_faults(fields[name], value, (*place, name))
    for name, field in fields.items():
        if name in given or name in supplied or name in elsewhere or name == "seed":
            continue
        if not field.has_default:
            yield Fault(place, f"lacks `{name}`, which {found.name} needs: {field.role.description}")
        else:
            yield from _value_faults(field, field.default, (*place, name))


def _value_faults(field: Field, value: object, place: Place) -> Iterator[Fault]:
    try:
        check(field, as_type(field, value))
    except ContractError as error:
        yield Fault(place, str(error).removeprefix(field.flag).strip())
