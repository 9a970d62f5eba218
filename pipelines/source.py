"""A YAML document with the place of every value: what a plan's errors point at.

YAML is read strictly, in its core schema of version 1.2: only `true` and `false` are booleans (`no` is a word), `1e-2`
is a number, dates and `12:30` are text. Duplicate keys, tabs, aliases, tags, NaN and infinity are refused.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from leakscape.errors import PlanError

Place = tuple[str | int, ...]
"""Where a value stands: `("conditions", 1, "train", "epochs")`."""

MOST_BYTES = 1 << 20
MOST_LEVELS = 20
MOST_INTEGER = 2**53 - 1  # KFP carries numbers as doubles

_SETTING = "--set "
# An escape in double quotes can hold what YAML refuses in clear, and a terminal would obey it: C0 and C1 without tab
# and line ends, and the marks that turn the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
_TAG = "tag:yaml.org,2002:"
_PLAIN = {
    "bool": re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
    "null": re.compile(r"^(?:~|null|Null|NULL|)$"),
    "int": re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"),
    "float": re.compile(
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
}


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the plain scalars of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own name


for _name, _pattern in _PLAIN.items():
    _Loader.add_implicit_resolver(_TAG + _name, _pattern, None)


@dataclass(frozen=True)
class Source:
    """A document's values and where each one stands.

    Args:
        name: the file as errors name it.
        data: the values.
        marks: `laptop.yaml, line 12` or `--set canaries.count` by place.
    """

    name: str
    data: dict[str, Any]
    marks: dict[Place, str] = field(default_factory=dict)

    def where(self, place: Place) -> str:
        """Name the file and line of a value, or of the nearest value around it."""
        for length in range(len(place), -1, -1):
            if mark := self.marks.get(place[:length]):
                return mark
        return self.name

    def order(self, place: Place) -> int:
        """A value's rank in the document, for errors in reading order."""
        known = list(self.marks)
        for length in range(len(place), -1, -1):
            if place[:length] in self.marks:
                return known.index(place[:length])
        return -1


def dotted(place: Place) -> str:
    """A place as a user types it: `conditions.1.train.epochs`."""
    return ".".join(str(part) for part in place)


def read(path: Path) -> Source:
    """Read a YAML file whose top is a mapping.

    Raises:
        PlanError: with the file and line: the file is missing, too large, not UTF-8, empty, or not strict YAML.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise PlanError(f"{path} can't be read: {error.strerror}.") from None
    if len(raw) > MOST_BYTES:
        raise PlanError(f"{path} is larger than {MOST_BYTES} bytes: that is no plan.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise PlanError(f"{path}, line {line}: not UTF-8; save the plan in UTF-8.") from None
    return parse(text, name=str(path))


def parse(text: str, *, name: str) -> Source:
    """Read YAML text whose top is a mapping; `read` says what is refused."""
    node = _compose(text, name)
    if node is None:
        raise PlanError(f"{name} is empty; a plan begins with `schema: leakscape/plan/1`.")
    if not isinstance(node, yaml.MappingNode):
        raise PlanError(f"{_mark(name, node)}: a plan is a mapping of keys to values.")
    marks: dict[Place, str] = {}
    data = _value(node, (), name, marks)
    return Source(name=name, data=data, marks=marks)


def value(text: str, *, name: str) -> Any:  # noqa: ANN401 - any YAML value
    """Read one YAML value, such as the right side of `--set canaries.count=25`; nothing is the empty text."""
    node = _compose(text, name)
    return "" if node is None else _value(node, (), name, {})


def _compose(text: str, name: str) -> yaml.Node | None:
    try:
        _check_events(text, name)
        node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise PlanError(f"{name}, line {line}: holds a control character; remove it.") from None
    except yaml.MarkedYAMLError as error:
        raise PlanError(f"{_mark(name, error)}: {_problem(error)}") from None
    return node


def _check_events(text: str, name: str) -> None:
    """Refuse aliases, and nesting that would end Python's stack, before anything is composed."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise PlanError(f"{_mark(name, event)}: aliases (`*{event.anchor}`) are not read; write the value out.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_LEVELS:
            raise PlanError(f"{_mark(name, event)}: nested deeper than {MOST_LEVELS} levels, which no plan is.")


def _problem(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "malformed"
    if r"'\t'" in problem:
        return "holds a tab; YAML is indented with spaces."
    if "document" in problem:
        return "a second document begins; a plan is one document."
    return f"not YAML: {problem}."


def _mark(name: str, thing: Any) -> str:  # noqa: ANN401 - a node, an event or an error of PyYAML
    if name.startswith(_SETTING):
        return name
    mark = getattr(thing, "problem_mark", None) or getattr(thing, "context_mark", None) or thing.start_mark
    return f"{name}, line {mark.line + 1}"


def _value(node: yaml.Node, place: Place, name: str, marks: dict[Place, str]) -> Any:  # noqa: ANN401
    marks.setdefault(place, _mark(name, node))
    if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
        return {key: _value(child, (*place, key), name, marks) for key, child in _items(node, place, name, marks)}
    if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
        return [_value(child, (*place, index), name, marks) for index, child in enumerate(node.value)]
    return _scalar(node, place, name)


def _items(node: yaml.MappingNode, place: Place, name: str, marks: dict[Place, str]) -> Iterator[tuple[str, yaml.Node]]:
    seen: set[str] = set()
    for key, child in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag != f"{_TAG}str":
            word = key.value if isinstance(key, yaml.ScalarNode) else "a list or mapping"
            raise PlanError(f"{_mark(name, key)}: a key must be text, which {word!r} is not.")
        _check_text(key.value, f"{_mark(name, key)}: a key")
        if key.value in seen:
            first = marks[(*place, key.value)].removeprefix(f"{name}, ")
            raise PlanError(f"{_mark(name, key)}: the key `{key.value}` stands here twice, first on {first}.")
        seen.add(key.value)
        marks[(*place, key.value)] = _mark(name, key)
        yield key.value, child


def _scalar(node: yaml.Node, place: Place, name: str) -> str | int | float | bool:
    where = f"{_mark(name, node)}: {dotted(place) or 'the value'}"
    kind = node.tag.removeprefix(_TAG)
    pattern = _PLAIN.get(kind)
    text = str(node.value)
    if kind == "str":
        return _check_text(text, where)
    if kind == "null":
        raise PlanError(f"{where} is empty; give it a value or leave the key out.")
    if pattern is None or not pattern.match(text):
        raise PlanError(f"{where} has the tag `{node.tag}`, which plans do not use; remove it.")
    if kind == "bool":
        return text.lower() == "true"
    return _whole(text, where) if kind == "int" else _real(text, where)


def _check_text(text: str, where: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise PlanError(f"{where} holds half a character (a lone surrogate); write the character itself.") from None
    if _CONTROL.search(text):
        raise PlanError(f"{where} holds a control character; remove it.")
    return text


def _whole(text: str, where: str) -> int:
    if len(text) > len(str(MOST_INTEGER)) + 1 or abs(int(text)) > MOST_INTEGER:
        raise PlanError(f"{where} is beyond {MOST_INTEGER}, the largest whole number that a pipeline carries exactly.")
    return int(text)


def _real(text: str, where: str) -> float:
    # Python spells YAML's `.inf` and `.nan` without the point.
    number = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if not math.isfinite(number):
        raise PlanError(f"{where} must be a finite number, not {text[:20]}.")
    return number


def with_overrides(source: Source, overrides: Sequence[str]) -> Source:
    """Apply `key.path=value` settings: typed by YAML, items of lists by index or by name, checked later.

    Raises:
        PlanError: a setting has no `=`, leads nowhere, or its value is no YAML.
    """
    for text in overrides:
        key, separator, raw = text.partition("=")
        name = f"{_SETTING}{key.strip()}"
        if not separator or not key.strip():
            raise PlanError(f"--set {text}: write it as key.path=value, for example --set canaries.count=25.")
        data, place = _put(source.data, key.strip().split("."), value(raw, name=name), name)
        marks = {at: mark for at, mark in source.marks.items() if at[: len(place)] != place}
        source = Source(name=source.name, data=data, marks={**marks, place: name})
    return source


def _put(tree: Any, parts: list[str], new: Any, name: str) -> tuple[Any, Place]:  # noqa: ANN401
    if not parts:
        return new, ()
    if isinstance(tree, dict):
        part: str | int = parts[0]
        below, place = _put(tree.get(parts[0], {}), parts[1:], new, name)
        return {**tree, part: below}, (part, *place)
    if isinstance(tree, list):
        part = _index(tree, parts[0], name)
        below, place = _put(tree[part], parts[1:], new, name)
        return [*tree[:part], below, *tree[part + 1 :]], (part, *place)
    raise PlanError(f"{name} leads into a single value: there is nothing named `{parts[0]}` in it.")


def _index(items: list[Any], part: str, name: str) -> int:
    if part.isdecimal() and int(part) < len(items):
        return int(part)
    names = [
        next((str(item[key]) for key in ("name", "component", "model") if key in item), "")
        for item in items
        if isinstance(item, dict)
    ]
    if part in names and len(names) == len(items):
        return names.index(part)
    known = ", ".join(entry for entry in names if entry) or f"0 to {len(items) - 1}"
    raise PlanError(f"{name}: the list has no item `{part}`; it has {known}.")
