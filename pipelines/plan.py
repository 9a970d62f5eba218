"""Plans: finding, reading and checking them.

A plan is checked in three passes, each of which reports all it finds with file and line: the YAML (`source`), the form
(`schema`), and the parameters against the contracts of the components they are for (`parameters`).
"""

import types
import typing
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from leakscape.errors import PlanError
from pipelines import gate_rules, placement
from pipelines import source as yaml_source
from pipelines.faults import Fault, choose, refuse
from pipelines.parameters import parameter_faults
from pipelines.schema import Plan
from pipelines.source import Place, Source

PLANS = Path(__file__).parent / "plans"

_SENTENCES = {
    "missing": "is missing.",
    "string_type": "must be text; put it in quotes if it looks like a number or a boolean.",
    "int_type": "must be a whole number.",
    "float_type": "must be a number.",
    "list_type": "must be a list: one `- ` entry a line.",
    "dict_type": "must be a mapping of parameters to values.",
    "model_type": "must be a mapping of keys to values.",
    "too_short": "needs at least one entry.",
    "string_too_short": "must not be empty.",
}


def packaged() -> dict[str, Path]:
    """The plans that come with leakscape, by name."""
    return {file.stem: file for file in sorted(PLANS.glob("*.yaml"))}


def find(plan: str) -> Path:
    """The file of a plan given by path, or by name if leakscape brings it.

    Raises:
        PlanError: it is neither.
    """
    path = Path(plan).expanduser()
    if path.is_file():
        return path
    known = packaged()
    if plan in known:
        return known[plan]
    raise PlanError(f"{plan} is neither a file nor the name of a packaged plan: {choose(plan, known)}")


def load(plan: str, *, overrides: Sequence[str] = (), contracts: Mapping[str, type[Any]] | None = None) -> Plan:
    """Find, read and check a plan.

    Args:
        plan: a path, or the name of a packaged plan.
        overrides: `key.path=value` settings that replace what the file says.
        contracts: the components' contracts by name; those of this installation by default.

    Returns:
        The plan, `population.path` made absolute: one in the file is relative to the file's folder, one given by an
        override to the working directory.

    Raises:
        PlanError: with file and line (or the override) of everything that is wrong.
    """
    path = find(plan)
    source = yaml_source.with_overrides(yaml_source.read(path), overrides)
    return _at_home(check(source, contracts=contracts), source, path)


def check(source: Source, *, contracts: Mapping[str, type[Any]] | None = None) -> Plan:
    """Hold a document against the schema and the components' contracts.

    Raises:
        PlanError: with everything that is wrong.
    """
    if contracts is None:
        from components import contracts as installed

        contracts = installed()
    try:
        plan = Plan.model_validate(source.data)
    except ValidationError as error:
        refuse(source, [schema_fault(dict(found)) for found in error.errors(include_url=False)])
    named = placement.faults(plan.placement, contracts)
    if faults := [*_cross_faults(plan), *parameter_faults(plan, contracts), *named]:
        refuse(source, faults)
    return plan


def _at_home(plan: Plan, source: Source, path: Path) -> Plan:
    given = plan.population.get("path", "")
    if not given or "://" in given:
        return plan
    overridden = source.where(("population", "path")).startswith("--set")
    base = Path.cwd() if overridden else path.parent
    absolute = (base / Path(given).expanduser()).resolve()
    return plan.model_copy(update={"population": {**plan.population, "path": str(absolute)}})


def schema_fault(error: dict[str, Any], model: type[BaseModel] = Plan) -> Fault:
    """A fault of pydantic's, in our words; `model` is what the document as a whole should be."""
    place: Place = error["loc"]
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        what = "of a plan here" if model is Plan else "here"
        return Fault(place, f"is no key {what}; {choose(str(place[-1]), _keys_at(model, place[:-1]))}")
    if kind == "missing" and place[-1] == "component":
        return Fault(place[:-1], "names no component; add `component: NAME`.")
    if kind == "string_pattern_mismatch":
        return Fault(place, _pattern_words(place))
    if kind == "literal_error":
        return Fault(place, f"must be {context['expected']}.")
    if kind in {"greater_than_equal", "less_than_equal"}:
        word, limit = ("at least", context.get("ge")) if "ge" in context else ("at most", context.get("le"))
        return Fault(place, f"must be {word} {limit}.")
    return Fault(place, _SENTENCES.get(kind, f"does not fit ({kind.replace('_', ' ')})."))


def _pattern_words(place: Place) -> str:
    if place[0] == "placement":
        return "does not fit; quantities are written as `500m`, `8` or `48Gi`, names in lower case."
    return "must be a short name of letters, digits and hyphens that begins with a letter or digit."


def _keys_at(document: type[BaseModel], place: Place) -> list[str]:
    """The keys that the schema knows at a place."""
    model: Any = document
    named_freely = False
    for part in place:
        if isinstance(part, int) or named_freely:
            named_freely = False
            continue
        annotation = {(field.alias or name): field.annotation for name, field in model.model_fields.items()}[part]
        named_freely = typing.get_origin(annotation) is dict
        model = next(_models(annotation))
    return [field.alias or name for name, field in model.model_fields.items()]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any type expression
    if typing.get_origin(annotation) in (list, dict, types.UnionType, typing.Union, typing.Annotated):
        for argument in typing.get_args(annotation):
            yield from _models(argument)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation


def _cross_faults(plan: Plan) -> Iterator[Fault]:
    yield from _twice("conditions", [condition.name for condition in plan.conditions])
    yield from _twice("targets", [target.label for target in plan.targets])
    yield from _condition_faults(plan)
    yield from gate_rules.faults(plan)
    yield from gate_rules.publish_faults(plan)
    for index, target in enumerate(plan.targets):
        if not target.label:
            yield Fault(("targets", index), "has a model whose path ends in no name; give it a `name`.")
        if not any(condition.untouched and condition.applies_to(target) for condition in plan.conditions):
            yield Fault(
                ("targets", index),
                f"({target.label}) has no untouched reference; add a condition without corpus and train.",
            )


def _twice(key: str, names: list[str]) -> Iterator[Fault]:
    repeated = {name for name, count in Counter(names).items() if count > 1}
    for index, name in enumerate(names):
        if name in repeated and name in names[:index]:
            yield Fault((key, index), f"is named `{name}` like another one; give it a `name` of its own.")


def _condition_faults(plan: Plan) -> Iterator[Fault]:
    labels = [target.label for target in plan.targets]
    for index, condition in enumerate(plan.conditions):
        place: Place = ("conditions", index)
        if condition.corpus and condition.train is None:
            yield Fault(place, f"({condition.name}) changes the corpus but trains on nothing; add `train`.")
        for number, label in enumerate(condition.targets or []):
            if label not in labels:
                yield Fault((*place, "targets", number), f"is no target of this plan: {choose(label, labels)}")
