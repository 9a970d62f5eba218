"""What a component takes and gives, stated once.

A contract is a class whose fields are annotated with `In`, `Out` or `Param`:

    @component(name="lora-train", image="train")
    class LoraTrain:
        '''Fine-tune a base model on a corpus with LoRA.'''

        corpus: Annotated[Path, In("corpus", "Records to train on.")]
        epochs: Annotated[int, Param("Passes over the corpus.", low=1)] = 2
        adapter: Annotated[Path, Out("adapter", "Trained LoRA weights.")]

The command line, the KFP component, the README table and the tests derive from it. Building an instance checks
types and ranges, so an instance is always valid. Standard library only: every image imports this.
"""

import dataclasses
import math
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform

from leakscape.errors import ContractError

Scalar = str | int | float | bool
Value = Scalar | list[Any] | dict[str, Any]

IMAGES = ("base", "train", "rewrite", "evaluate")

VARIABLE = "[A-Za-z_][A-Za-z0-9_]*"
"""The pattern of an environment variable's name."""

_CREDENTIAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#@]*:[^/?#@]*@")

T = TypeVar("T")


@dataclass(frozen=True)
class In:
    """An artifact that the component reads.

    Args:
        kind: what it is, in the words of the design (`corpus`, `canaries`, `adapter`, ...); KFP sees it as metadata.
        description: one sentence for the command line, the UI and the README.
        many: several artifacts of this kind; the field's type is then `tuple[Path, ...]`.
    """

    kind: str
    description: str
    many: bool = False


@dataclass(frozen=True)
class Out:
    """An artifact that the component writes.

    Args:
        kind: as for `In`. `html`, `metrics` and `classification_metrics` are files that the KFP UI draws.
        description: one sentence.
    """

    kind: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Param:
    """A setting.

    Args:
        description: one sentence.
        low: smallest value allowed, itself included unless `above` says otherwise.
        high: largest value allowed, itself included.
        above: the value must be larger than this.
        choices: the only values allowed.
        required: the empty string is refused ('' means unset, as KFP delivers a blank field).
        pattern: a regular expression that a text which is not empty must fit. A message never repeats one that does
            not: it may be a credential in the wrong place.
        operational: it changes how a result is had, not what the result is: a place for what a killed step had, an
            address, a number of attempts.
        final_status: Kubeflow gives it, to a task that ends a run: how the run's other tasks ended.
    """

    description: str = dataclasses.field(kw_only=False)
    low: float | None = None
    high: float | None = None
    above: float | None = None
    choices: tuple[Scalar, ...] = ()
    required: bool = False
    pattern: str = ""
    operational: bool = False
    final_status: bool = False


@dataclass(frozen=True)
class Field:
    """One field of a contract, as `spec` lists them."""

    name: str
    role: In | Out | Param
    type: type
    default: Any = dataclasses.MISSING
    items: Any = object
    """The type of a list's items."""

    @property
    def flag(self) -> str:
        """The field's command-line flag, for example `--batch-size`."""
        return "--" + self.name.replace("_", "-")

    @property
    def has_default(self) -> bool:
        """Whether the field may be left out."""
        return self.default is not dataclasses.MISSING


@dataclass(frozen=True)
class Spec:
    """A contract, read."""

    name: str
    image: str
    summary: str
    fields: tuple[Field, ...]

    @property
    def inputs(self) -> tuple[Field, ...]:
        """The artifacts read, in order."""
        return tuple(field for field in self.fields if isinstance(field.role, In))

    @property
    def outputs(self) -> tuple[Field, ...]:
        """The artifacts written, in order."""
        return tuple(field for field in self.fields if isinstance(field.role, Out))

    @property
    def params(self) -> tuple[Field, ...]:
        """The settings, in order."""
        return tuple(field for field in self.fields if isinstance(field.role, Param))

    @property
    def operational(self) -> frozenset[str]:
        """The names of the settings that change how a result is had, not what it is."""
        return frozenset(field.name for field in self.fields if getattr(field.role, "operational", False))


@dataclass_transform(kw_only_default=True, frozen_default=True)
def component(*, name: str, image: str) -> Callable[[type[T]], type[T]]:
    """Make a class a contract: a frozen keyword-only dataclass that checks itself when built.

    Args:
        name: the component's name on the command line and in the UI.
        image: one of `IMAGES`.

    Raises:
        TypeError: the class states something that no contract may (an unknown image, a field without a role, a
            default of None, a parameter type that KFP can't carry).
    """

    def decorate(cls: type[T]) -> type[T]:
        cls.__post_init__ = _check_instance  # type: ignore[attr-defined]
        made = dataclass(frozen=True, kw_only=True)(cls)
        made.__leakscape_spec__ = _read(made, name, image)  # type: ignore[attr-defined]
        return made

    return decorate


def spec(contract: type[Any] | object) -> Spec:
    """The spec of a contract class or of one of its instances.

    Raises:
        TypeError: `contract` was not made by `component`.
    """
    found = getattr(contract, "__leakscape_spec__", None)
    if not isinstance(found, Spec):
        raise TypeError(f"{contract!r} is no contract: decorate it with @component")
    return found


def check(field: Field, value: object) -> None:
    """Hold one parameter against its type and range.

    Raises:
        ContractError: with one sentence that says what is allowed.
    """
    role = field.role
    if not isinstance(role, Param):
        return
    if not _is_instance(value, field.type):
        raise ContractError(f"{field.flag} takes {type_words(field.type)}, not {type(value).__name__}.")
    if isinstance(value, float) and math.isnan(value):
        raise ContractError(f"{field.flag} must be a number, not NaN.")
    if role.required and value in ("", [], {}):
        raise ContractError(f"{field.flag} must be given: {role.description}")
    for item in value if isinstance(value, list) else [value]:
        if isinstance(value, list) and not _is_instance(item, field.items):
            words = type_words(field.items)
            raise ContractError(f"{field.flag} takes a list, each item {words}, not {type(item).__name__}.")
        if isinstance(item, str):
            _check_text(field, role, item)
    if role.choices and value not in role.choices:
        allowed = ", ".join(str(choice) for choice in role.choices)
        raise ContractError(f"{field.flag} must be one of {allowed}, not {value!r}.")
    _check_range(field, role, value)


def _check_text(field: Field, role: Param, value: str) -> None:
    """Parameters stand in manifests, logs and pipelines for all to read, so an address holds no password."""
    if _CREDENTIAL.match(value):
        raise ContractError(f"{field.flag} holds a password; hand it over by an environment variable or a secret.")
    if role.pattern and value and not re.fullmatch(role.pattern, value):
        raise ContractError(f"{field.flag} does not fit. It is: {role.description}")


def _check_range(field: Field, role: Param, value: object) -> None:
    numbers = value if isinstance(value, list) else [value]
    for number in numbers:
        if not isinstance(number, int | float) or isinstance(number, bool):
            continue
        if role.low is not None and number < role.low:
            raise ContractError(f"{field.flag} must be at least {role.low:g}, not {_short(number)}.")
        if role.above is not None and number <= role.above:
            raise ContractError(f"{field.flag} must be above {role.above:g}, not {_short(number)}.")
        if role.high is not None and number > role.high:
            raise ContractError(f"{field.flag} must be at most {role.high:g}, not {_short(number)}.")


def _short(number: float) -> str:
    """A number as a message shows it; a whole number may be larger than any float."""
    try:
        return f"{number:g}"
    except OverflowError:
        return "a number of more than 300 digits"


def _check_instance(instance: object) -> None:
    for field in spec(instance).fields:
        value = getattr(instance, field.name)
        if field.type is float and isinstance(value, int) and not isinstance(value, bool):
            object.__setattr__(instance, field.name, float(value))
            value = float(value)
        check(field, value)


def _read(cls: type[Any], name: str, image: str) -> Spec:
    if image not in IMAGES:
        raise TypeError(f"{cls.__name__}: image {image!r} is none of {', '.join(IMAGES)}")
    hints = typing.get_type_hints(cls, include_extras=True)
    fields = []
    for field in dataclasses.fields(cls):
        annotated = hints[field.name]
        roles = [extra for extra in getattr(annotated, "__metadata__", ()) if isinstance(extra, In | Out | Param)]
        if len(roles) != 1:
            raise TypeError(f"{cls.__name__}.{field.name} needs exactly one of In, Out, Param")
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        fields.append(_field(cls, field.name, roles[0], typing.get_args(annotated)[0], default))
    summary = (cls.__doc__ or "").strip().split("\n\n", maxsplit=1)[0].replace("\n", " ")
    return Spec(name=name, image=image, summary=" ".join(summary.split()), fields=tuple(fields))


def _field(cls: type[Any], name: str, role: In | Out | Param, hint: Any, default: Any) -> Field:  # noqa: ANN401
    plain = typing.get_origin(hint) or hint
    if isinstance(role, Param):
        if plain not in (str, int, float, bool, list, dict):
            raise TypeError(f"{cls.__name__}.{name}: KFP can't carry a parameter of type {hint}")
        if default is None:
            raise TypeError(f"{cls.__name__}.{name}: no None defaults; use '' for unset")
    else:
        wanted = tuple if isinstance(role, In) and role.many else Path
        if plain is not wanted or default is not dataclasses.MISSING:
            raise TypeError(f"{cls.__name__}.{name}: an artifact is a {wanted.__name__} without a default")
    inner = typing.get_args(hint)[0] if plain is list and typing.get_args(hint) else object
    return Field(name=name, role=role, type=plain, default=default, items=object if inner is Any else inner)


def _is_instance(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return kind in (bool, object)
    return isinstance(value, kind)


def type_words(kind: type) -> str:
    """What a parameter of a type takes, in words."""
    words = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a JSON list"}
    return words.get(kind, "a JSON dictionary")
