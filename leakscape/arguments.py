"""Command-line arguments of a component, read from its contract and into it."""

import argparse
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from leakscape.contract import Field, In, Out, Param, Spec, Value, check, spec, type_words
from leakscape.errors import ContractError

EXECUTOR_INPUT = "executor_input"
_UNSET = ("", None)
_WIDTH = 100


class Help(argparse.RawDescriptionHelpFormatter):
    """The same layout on every terminal, so that the documentation can show it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_WIDTH, max_help_position=28)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of repeating the usage, and never repeats a value."""

    def error(self, message: str) -> NoReturn:
        raise ContractError(f"{message[:1].upper()}{message[1:]}; `{self.prog} --help` lists the flags.")


def parser(contract_spec: Spec) -> argparse.ArgumentParser:
    """The argument parser of a component: each input, output and parameter with its default and a worked example."""
    made = _Parser(
        prog=f"leakscape {contract_spec.name}",
        description=contract_spec.summary,
        epilog=f"example:\n  {example(contract_spec)}",
        formatter_class=Help,
        allow_abbrev=False,
    )
    for title, fields in (
        ("inputs", contract_spec.inputs),
        ("outputs", contract_spec.outputs),
        ("parameters", contract_spec.params),
    ):
        group = made.add_argument_group(title)
        for field in fields:
            many = isinstance(field.role, In) and field.role.many
            group.add_argument(
                field.flag,
                dest=field.name,
                nargs="*" if many else None,
                metavar=metavar(field),
                help=_help(field).replace("%", "%%"),
            )
    kubeflow = made.add_argument_group("Kubeflow")
    kubeflow.add_argument(
        "--executor-input",
        dest=EXECUTOR_INPUT,
        metavar="JSON",
        help="what KFP puts in place of {{$}}; the executor output is then written where it says",
    )
    return made


def read(contract: type[Any], argv: Sequence[str]) -> tuple[Any, str]:
    """Read a command line into an instance of the contract and the executor input ('' if there is none).

    The empty string means unset, as KFP delivers a blank field: the default holds.

    Raises:
        ContractError: an unknown flag, a value of the wrong type or out of range, an input that does not exist, an
            artifact that was not given or one path given twice.
        SystemExit: with code 0, after `--help`.
    """
    contract_spec = spec(contract)
    parsed, unknown = parser(contract_spec).parse_known_args(argv)
    if unknown:
        flags = [word.partition("=")[0] for word in unknown if word.startswith("--")]
        named = f" {', '.join(flags)}" if flags else "s without a flag"
        raise ContractError(
            f"leakscape {contract_spec.name} takes no argument{named}; "
            f"`leakscape {contract_spec.name} --help` lists its flags."
        )
    values: dict[str, Any] = {}
    for field in contract_spec.fields:
        given = getattr(parsed, field.name)
        if isinstance(field.role, Param):
            if given not in _UNSET or not field.has_default:
                values[field.name] = parse_given(field, given)
        else:
            values[field.name] = _paths(field, given)
    _refuse_equal_paths(contract_spec, values)
    return contract(**values), getattr(parsed, EXECUTOR_INPUT) or ""


def parse_given(field: Field, text: str | None) -> Any:  # noqa: ANN401
    """Read a parameter that has no default or was given.

    Raises:
        ContractError: it is blank though it has no default, or not of its type.
    """
    if text is None or (text == "" and field.type is not str):
        raise ContractError(f"{field.flag} must be given: {field.role.description}")
    return parse(field, text)


def parse(field: Field, text: str) -> Value:
    """Read a parameter as KFP and the command line write it: `true`/`false`, numbers, JSON lists and dictionaries.

    Raises:
        ContractError: the text is not of the field's type.
    """
    try:
        if field.type is bool:
            return {"true": True, "false": False, "": False}[text.strip().lower()]
        if field.type in (list, dict):
            return _parse_json(field, text)
        return cast("Value", field.type(text))
    except (ValueError, KeyError, RecursionError):
        raise ContractError(f"{field.flag} takes {type_words(field.type)}: {text[:80]!r} is none.") from None


def _parse_json(field: Field, text: str) -> Value:
    value = _with_whole_numbers(json.loads(text, parse_constant=_no_constant)) if text.strip() else field.type()
    check(field, value)
    return cast("Value", value)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _with_whole_numbers(value: Any) -> Any:  # noqa: ANN401
    """Undo what KFP does to numbers inside lists and dictionaries: it carries 16 as 16.0."""
    if isinstance(value, dict):
        return {key: _with_whole_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def limits(field: Field) -> str:
    """The values that a parameter allows, in words; '' if its type is the only limit."""
    role = field.role
    if not isinstance(role, Param):
        return ""
    bounds = (("at least", role.low), ("above", role.above), ("at most", role.high))
    words = [f"{word} {bound:g}" for word, bound in bounds if bound is not None]
    if role.choices:
        words.append("one of " + ", ".join(_text(choice) for choice in role.choices))
    return ", ".join(words)


def default_text(field: Field) -> str:
    """The default as the command line writes it; '' if there is none or it is the empty text."""
    return _text(field.default) if field.has_default else ""


def example(contract_spec: Spec) -> str:
    """A worked example: the artifacts and whatever else must be given."""
    words = ["leakscape", contract_spec.name]
    for field in (*contract_spec.inputs, *contract_spec.outputs):
        many = isinstance(field.role, In) and field.role.many
        folder = "made" if isinstance(field.role, Out) else "given"
        words += [
            field.flag,
            *([f"{folder}/{field.name}-1", f"{folder}/{field.name}-2"] if many else [f"{folder}/{field.name}"]),
        ]
    for field in contract_spec.params:
        if not field.has_default or (isinstance(field.role, Param) and field.role.required):
            words += [field.flag, _example_value(field)]
    return shlex.join(words)


def metavar(field: Field) -> str:
    """What stands for the field's value in the help: its type in one word."""
    if not isinstance(field.role, Param):
        return "PATH"
    return {int: "N", float: "X", bool: "true|false", list: "JSON", dict: "JSON"}.get(field.type, "TEXT")


def _example_value(field: Field) -> str:
    role = field.role
    if isinstance(role, Param) and role.choices:
        return _text(role.choices[0])
    if field.type in (int, float):
        low = getattr(role, "low", None)
        return f"{1 if low is None else low:g}"
    return {bool: "true", list: "[1, 2]", dict: "{}"}.get(field.type, field.name.upper())


def _help(field: Field) -> str:
    notes = [limits(field)]
    if isinstance(field.role, Param):
        default = default_text(field)
        if default:
            notes.append(f"default {default}")
        elif not field.has_default or field.role.required:
            notes.append("must be given")
    found = "; ".join(note for note in notes if note)
    return f"{field.role.description} ({found})" if found else field.role.description


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _paths(field: Field, given: Any) -> Path | tuple[Path, ...]:  # noqa: ANN401
    if isinstance(field.role, In) and field.role.many:
        return tuple(_path(field, text) for text in given or ())
    return _path(field, given)


def _path(field: Field, text: str | None) -> Path:
    if not text:
        raise ContractError(f"{field.flag} must be given: {field.role.description}")
    path = Path(text)
    if isinstance(field.role, In) and not path.exists():
        raise ContractError(f"{field.flag}: {path} does not exist.")
    return path


def _refuse_equal_paths(contract_spec: Spec, values: dict[str, Any]) -> None:
    """Two flags with one path compare a thing with itself, an output inside another artifact changes that one."""
    seen: dict[Path, str] = {}
    for field in (*contract_spec.inputs, *contract_spec.outputs):
        value = values[field.name]
        for path in value if isinstance(value, tuple) else (value,):
            place = path.resolve()
            if place in seen:
                raise ContractError(f"{seen[place]} and {field.flag} name the same path, {path}; each needs its own.")
            seen[place] = field.flag
    for field in contract_spec.outputs:
        around = next((seen[above] for above in values[field.name].resolve().parents if above in seen), "")
        if around:
            raise ContractError(f"{field.flag} lies inside {around}; each artifact needs a folder of its own.")
