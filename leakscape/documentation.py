"""The generated documentation: a component's README and the table of components, read from the contracts."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leakscape import arguments
from leakscape.contract import Field, In, Param, Spec, spec
from leakscape.errors import InputError

TABLE_START = "<!-- components -->"
TABLE_END = "<!-- /components -->"

_NOTICE = "<!-- Generated from contract.py by `make docs`: change the contract, not this file. -->"
_TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false", list: "JSON list", dict: "JSON"}


def component_readme(contract: type[Any]) -> str:
    """The README of a component in Markdown: what it does, takes, gives and can be told, and a worked example."""
    contract_spec = spec(contract)
    parts = [_NOTICE, f"# {contract_spec.name}", inspect.cleandoc(contract.__doc__ or "")]
    parts.append(f"Runs in the image `{contract_spec.image}`.")
    for title, fields in (("Takes", contract_spec.inputs), ("Gives", contract_spec.outputs)):
        if fields:
            rows = [(f"`{field.flag}`", _kind(field), field.role.description) for field in fields]
            parts += [f"## {title}", _table(("artifact", "kind", "what it is"), rows)]
    if contract_spec.params:
        head = ("parameter", "type", "default", "allowed", "what it does")
        parts += ["## Parameters", _table(head, [_param_row(field) for field in contract_spec.params])]
    parts += ["## Example", f"```sh\n{_folded(arguments.example(contract_spec))}\n```"]
    return "\n\n".join(parts) + "\n"


def component_table(contracts: Mapping[str, type[Any]]) -> str:
    """The table of components in Markdown, each linked to its folder.

    Args:
        contracts: by the component's name, as `components.contracts` gives them.
    """
    rows = [_component_row(spec(contract)) for contract in contracts.values()]
    return _table(("component", "what it does", "takes", "gives", "image"), rows)


def with_table(text: str, table: str) -> str:
    """Put the table of components between its markers.

    Raises:
        InputError: the text lacks the markers, or has them more than once.
    """
    before, start, rest = text.partition(TABLE_START)
    _, end, after = rest.partition(TABLE_END)
    if not start or not end or TABLE_START in rest or TABLE_END in before + after:
        raise InputError(f"The text must hold {TABLE_START} and, below it, {TABLE_END}, once each.")
    return f"{before}{start}\n{table}\n{end}{after}"


def _component_row(contract_spec: Spec) -> Sequence[str]:
    folder = f"components/{contract_spec.name.replace('-', '_')}"
    return (
        f"[{contract_spec.name}]({folder}/README.md)",
        contract_spec.summary,
        _names(contract_spec.inputs),
        _names(contract_spec.outputs),
        contract_spec.image,
    )


def _names(fields: Iterable[Field]) -> str:
    return ", ".join(field.name.replace("_", " ") for field in fields) or "nothing"


def _kind(field: Field) -> str:
    kind = str(getattr(field.role, "kind", "")).replace("_", " ")
    return f"{kind}, any number" if isinstance(field.role, In) and field.role.many else kind


def _param_row(field: Field) -> Sequence[str]:
    default = arguments.default_text(field)
    needed = not field.has_default or (isinstance(field.role, Param) and field.role.required)
    shown = f"`{default}`" if default else ("must be given" if needed else "unset")
    return (f"`{field.flag}`", _TYPES[field.type], shown, arguments.limits(field), field.role.description)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _folded(command: str) -> str:
    """One flag a line, so that a long command is read at a glance."""
    return command.replace(" --", " \\\n  --")
