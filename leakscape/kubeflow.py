"""Contract -> KFP container component.

The component's command line is the one a user types, with KFP's placeholders for values:

    leakscape lora-train --epochs={{value}} --corpus {{path}} --adapter {{path}} --executor-input {{$}}

Types, defaults and descriptions of the compiled YAML come from the contract. No source code enters it.
"""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leakscape.contract import Field, In, Out, Param, Spec, spec

if TYPE_CHECKING:
    from kfp.dsl import ContainerSpec
    from kfp.dsl.container_component_class import ContainerComponent

EXECUTOR_INPUT = "--executor-input"
PROGRAM = "leakscape"

_CLASSES = {
    "html": "HTML",
    "markdown": "Markdown",
    "metrics": "Metrics",
    "classification_metrics": "ClassificationMetrics",
    "corpus": "Dataset",
    "population": "Dataset",
    "adapter": "Model",
}


def kfp_component(contract: type[Any], *, image: str, counts: Mapping[str, int] | None = None) -> "ContainerComponent":
    """Build the KFP container component of a contract.

    KFP can't pass a list of artifacts that was put together in Python (its lists come from `dsl.Collected` over a
    `dsl.ParallelFor` alone), so an input that takes many is written out as inputs `name_1` to `name_n`; see
    `input_names`.

    Args:
        contract: a class decorated with `leakscape.contract.component`.
        image: the container image, by digest.
        counts: for each input that takes many, how many it is given here; none if left out.

    Raises:
        TypeError: `contract` is no contract.
        ValueError: `counts` names something that is no input for many, or a count is negative.
    """
    from kfp import dsl

    contract_spec = spec(contract)
    counts = dict(counts or {})
    _check_counts(contract_spec, counts)

    def container(*placeholders: object) -> "ContainerSpec":
        given = dict(zip(signature.parameters, placeholders, strict=True))
        return dsl.ContainerSpec(
            image=image,
            command=[PROGRAM, contract_spec.name],
            args=[*_arguments(contract_spec, counts, given), EXECUTOR_INPUT, "{{$}}"],
        )

    signature = _signature(contract_spec, counts)
    container.__signature__ = signature  # type: ignore[attr-defined]
    container.__name__ = contract_spec.name.replace("-", "_")
    container.__doc__ = _docstring(contract_spec, counts)
    return dsl.container_component(container)


def input_names(field: Field, count: int) -> list[str]:
    """The KFP inputs that stand for an input: its own name, or `name_1` to `name_n` where it takes many."""
    if isinstance(field.role, In) and field.role.many:
        return [f"{field.name}_{number}" for number in range(1, count + 1)]
    return [field.name]


def artifact_class(kind: str) -> type[Any]:
    """The KFP artifact class of a kind: it decides how the UI shows the artifact."""
    from kfp import dsl

    found: type[Any] = getattr(dsl, _CLASSES.get(kind, "Artifact"))
    return found


def _check_counts(contract_spec: Spec, counts: Mapping[str, int]) -> None:
    many = {field.name for field in contract_spec.inputs if isinstance(field.role, In) and field.role.many}
    for name, count in counts.items():
        if name not in many:
            raise ValueError(f"{contract_spec.name} has no input {name} that takes many artifacts")
        if count < 0:
            raise ValueError(f"{contract_spec.name}: {name} can't be given {count} artifacts")


def _arguments(contract_spec: Spec, counts: Mapping[str, int], given: Mapping[str, Any]) -> list[Any]:
    """Settings are joined to their flag by `=`, so that a value which begins with a dash is no flag."""
    arguments: list[Any] = [f"{field.flag}={given[field.name]}" for field in contract_spec.params]
    for field in (*contract_spec.inputs, *contract_spec.outputs):
        if names := input_names(field, counts.get(field.name, 0)):
            arguments += [field.flag, *(given[name].path for name in names)]
    return arguments


def _signature(contract_spec: Spec, counts: Mapping[str, int]) -> inspect.Signature:
    """Required before optional, as Python and KFP demand."""
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=_annotation(field),
            default=field.default if field.has_default and not _final_status(field) else inspect.Parameter.empty,
        )
        for field in contract_spec.fields
        for name in input_names(field, counts.get(field.name, 0))
    ]
    return inspect.Signature(sorted(parameters, key=lambda parameter: parameter.default is not inspect.Parameter.empty))


def _annotation(field: Field) -> Any:  # noqa: ANN401
    from kfp import dsl

    if isinstance(field.role, In):
        return dsl.Input[artifact_class(field.role.kind)]
    if isinstance(field.role, Out):
        return dsl.Output[artifact_class(field.role.kind)]
    return dsl.PipelineTaskFinalStatus if _final_status(field) else field.type


def _final_status(field: Field) -> bool:
    """Whether KFP gives the value itself; such a parameter takes no default."""
    return isinstance(field.role, Param) and field.role.final_status


def _docstring(contract_spec: Spec, counts: Mapping[str, int]) -> str:
    """KFP reads descriptions of inputs under `Args:` and those of outputs under `Returns:` only."""
    inputs = [
        f"    {name}: {_one_line(field.role.description)}"
        for field in (*contract_spec.inputs, *contract_spec.params)
        for name in input_names(field, counts.get(field.name, 0))
    ]
    outputs = [f"    {field.name}: {_one_line(field.role.description)}" for field in contract_spec.outputs]
    sections = [contract_spec.summary]
    if inputs:
        sections.append("\n".join(["Args:", *inputs]))
    if outputs:
        sections.append("\n".join(["Returns:", *outputs]))
    return "\n\n".join(sections) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
