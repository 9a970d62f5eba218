"""A plan becomes a graph of steps in which equal steps are one.

Wiring needs no lines in the plan. A step's input takes the latest output of the same name on its chain; an output of
kind `corpus` replaces the corpus whatever its name, and an input named `original` takes the first one, as it was
before any defence; an input of many takes every output of its kind so far. The landscape takes all measurements, and
as evidence whatever else the steps wrote down: logs, masks, ledgers.

Pure: a plan and contracts in, a graph out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from leakscape.contract import Field, Out, Param, Spec, spec
from leakscape.errors import PlanError
from pipelines.parameters import (
    CANARIES,
    ENFORCE,
    EVALUATE,
    JOINS,
    LANDSCAPE,
    POPULATION,
    PUBLISH,
    SHARD,
    SHARDS,
    Contracts,
    complete,
    known_by,
    published,
    stated,
)
from pipelines.placement import Placement
from pipelines.schema import Condition, Parameters, Plan, Target, Use
from pipelines.titles import titled

ORIGINAL = "original"
"""The name of an input that takes the corpus with the canaries, untouched by the defences that came after."""

MOST_CHARACTERS = 10_000
"""KFP refuses longer parameters."""

# Kinds that are no evidence about how a condition came about: data, weights, scores, and files for the UI.
_NO_EVIDENCE = frozenset(
    {"population", "corpus", "canaries", "adapter", "measurements", "landscape", "verdict", "published"}
    | {"html", "markdown", "metrics", "classification_metrics"}
)


@dataclass(frozen=True, order=True)
class Ref:
    """An output of a step."""

    step: str
    output: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One task.

    Args:
        id: the component's name and a digest of all that steers the step: the same in every plan that needs it.
        component: the component's name.
        parameters: all of them, in the contract's order.
        inputs: the outputs that feed each input; one of many may be empty.
        targets: the labels of the models that need the step.
        conditions: the names of the conditions that need it; empty for the frame (population, canaries, landscape).
        title: how the step reads in a list: `target · condition · step`.
    """

    id: str
    component: str
    parameters: Parameters
    inputs: dict[str, tuple[Ref, ...]]
    targets: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    title: str = ""

    @property
    def needs(self) -> tuple[str, ...]:
        """The ids of the steps that come before this one."""
        return tuple(dict.fromkeys(ref.step for refs in self.inputs.values() for ref in refs))


@dataclass(frozen=True, kw_only=True)
class Graph:
    """The steps of a plan, each after those it needs.

    `asked` is the number of steps there would be if nothing were shared; `placement` says where they run on a cluster.
    """

    name: str
    description: str
    steps: tuple[Step, ...]
    asked: int
    placement: Placement = field(default_factory=Placement)

    def step(self, component: str) -> Step:
        """The only step of a component of the frame."""
        (found,) = (step for step in self.steps if step.component == component)
        return found


@dataclass(frozen=True)
class _Chain:
    """What the steps so far have given: the latest output by name, and all of them with their kinds."""

    named: Mapping[str, Ref] = field(default_factory=dict)
    given: tuple[tuple[str, Ref], ...] = ()

    def after(self, step: Step, found: Spec) -> "_Chain":
        named, given = dict(self.named), list(self.given)
        for output in found.outputs:
            kind = _kind(output)
            ref = Ref(step.id, output.name)
            named["corpus" if kind == "corpus" else output.name] = ref
            if kind == "corpus":
                named.setdefault(ORIGINAL, ref)
            given.append((kind, ref))
        return _Chain(named, tuple(dict.fromkeys(given)))

    def together(self, other: "_Chain") -> "_Chain":
        return _Chain(self.named, tuple(dict.fromkeys((*self.given, *other.given))))

    def inputs(self, found: Spec) -> dict[str, tuple[Ref, ...]]:
        return {one.name: self._input(found, one) for one in found.inputs}

    def _input(self, found: Spec, one: Field) -> tuple[Ref, ...]:
        kind = _kind(one)
        if getattr(one.role, "many", False):
            return tuple(ref for given, ref in self.given if given == kind or (kind == "evidence" and _evidence(given)))
        name = "corpus" if kind == "corpus" and one.name != ORIGINAL else one.name
        if name not in self.named:
            raise PlanError(f"{found.name} needs `{name}`, which no step before it gives.")
        return (self.named[name],)


class _Steps:
    """Steps under construction: adding an equal one finds the first."""

    def __init__(self, contracts: Contracts, seed: int) -> None:
        self.contracts, self.seed, self.asked = contracts, seed, 0
        self.found: dict[str, Step] = {}

    def add(
        self, component: str, given: Parameters, chain: _Chain, *, target: str = "", condition: str = ""
    ) -> tuple[Step, _Chain]:
        found = spec(self.contracts[component])
        step = self._put(component, given, chain.inputs(found), target=target, condition=condition)
        return step, chain.after(step, found)

    def add_in_parts(self, use: Use, chain: _Chain, *, target: str, condition: str) -> _Chain:
        """Add a corpus step as parts side by side and the step that joins them, as if it were one step."""
        found, joining = spec(self.contracts[use.component]), spec(self.contracts[JOINS[use.component]])
        place = {"target": target, "condition": condition}
        parts = [
            self._put(use.component, {**use.settings, SHARD: number}, chain.inputs(found), **place)
            for number in range(1, use.settings[SHARDS] + 1)
        ]
        outputs = {output.role.kind: output.name for output in found.outputs if isinstance(output.role, Out)}
        inputs = {
            one.name: tuple(Ref(part.id, outputs[_kind(one)]) for part in parts)
            if getattr(one.role, "many", False)
            else chain.inputs(found)[one.name]
            for one in joining.inputs
        }
        step = self._put(joining.name, known_by(joining, parts[0].parameters), inputs, **place)
        return chain.after(step, joining)

    def _put(
        self, component: str, given: Parameters, inputs: dict[str, tuple[Ref, ...]], *, target: str, condition: str
    ) -> Step:
        parameters = complete(spec(self.contracts[component]), given, seed=self.seed)
        _check_length(component, parameters)
        name = _identify(component, parameters, inputs)
        step = self.found.get(name) or Step(id=name, component=component, parameters=parameters, inputs=inputs)
        self.asked += 1
        self.found[name] = replace(
            step, targets=_with(step.targets, target), conditions=_with(step.conditions, condition)
        )
        return step


def compose(plan: Plan, contracts: Contracts, *, content_hash: str = "") -> Graph:
    """Turn a checked plan into its graph.

    Args:
        plan: as `pipelines.plan.load` gives it.
        contracts: the components' contracts by name.
        content_hash: the digest of the data outside that the population is read from; '' if there is none. It is a
            parameter of that step, so that a cached one is not reused after the data changed.

    Raises:
        PlanError: a step needs what no step before it gives, or a parameter is longer than KFP carries.
    """
    steps = _Steps(contracts, plan.seed)
    population = {**plan.population, **({"content_hash": content_hash} if content_hash else {})}
    _, start = steps.add(POPULATION, population, _Chain())
    _, start = steps.add(CANARIES, plan.canaries, start)
    everything = start
    for target in plan.targets:
        for condition in plan.conditions:
            if condition.applies_to(target):
                everything = everything.together(_condition(steps, target, condition, start))
    report = {**plan.report, **stated(plan, spec(contracts[LANDSCAPE]))}
    _, compared = steps.add(LANDSCAPE, report, everything)
    if published(plan):
        _, compared = steps.add(PUBLISH, {"history": plan.report.get("history", ""), **plan.publish}, compared)
    if plan.gate:
        steps.add(ENFORCE, {}, compared)
    found = titled(tuple(steps.found.values()), plan, contracts)
    return Graph(
        name=plan.name,
        description=plan.description,
        steps=found,
        asked=steps.asked + _spared(plan),
        placement=plan.placement,
    )


def _spared(plan: Plan) -> int:
    """How many more frame steps there would be if each row had a population and canaries of its own."""
    rows = sum(condition.applies_to(target) for target in plan.targets for condition in plan.conditions)
    return len((POPULATION, CANARIES)) * (rows - 1)


def _condition(steps: _Steps, target: Target, condition: Condition, chain: _Chain) -> _Chain:
    """Add one row of the comparison: corpus steps, trainer, evaluation."""
    base = {"model": target.model, "revision": target.revision}

    def add(component: str, given: Parameters, chain: _Chain) -> _Chain:
        return steps.add(component, given, chain, target=target.label, condition=condition.name)[1]

    for use in condition.corpus:
        if use.component in JOINS and use.settings.get(SHARDS, 1) > 1:
            chain = steps.add_in_parts(use, chain, target=target.label, condition=condition.name)
        else:
            chain = add(use.component, use.settings, chain)
    if condition.train is not None:
        found = spec(steps.contracts[condition.train.component])
        defaults = known_by(found, {**target.train, **base})
        chain = add(condition.train.component, {**defaults, **condition.train.settings}, chain)
    own = {**base, "target": target.label, "condition": condition.name}
    return add(EVALUATE, {**target.evaluate, **condition.evaluate, **own}, chain)


def _check_length(component: str, parameters: Parameters) -> None:
    for name, value in parameters.items():
        length = len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))
        if length >= MOST_CHARACTERS:
            raise PlanError(
                f"`{name}` of {component} would be {length} characters long, but Kubeflow carries fewer than "
                f"{MOST_CHARACTERS}: shorten the summaries or split the plan."
            )


def _identify(component: str, parameters: Parameters, inputs: Mapping[str, tuple[Ref, ...]]) -> str:
    refs = {name: [[ref.step, ref.output] for ref in refs] for name, refs in inputs.items()}
    key = json.dumps([component, parameters, refs], sort_keys=True, ensure_ascii=True, allow_nan=False)
    return f"{component}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if not name or name in names else (*names, name)


def _kind(one: Field) -> str:
    return "" if isinstance(one.role, Param) else one.role.kind


def _evidence(kind: str) -> bool:
    return kind not in _NO_EVIDENCE


def stages(graph: Graph) -> Iterator[tuple[int, Step]]:
    """Each step with its depth: the length of the longest way to it."""
    depth: dict[str, int] = {}
    for step in graph.steps:
        depth[step.id] = 1 + max((depth[name] for name in step.needs), default=-1)
        yield depth[step.id], step
