"""JSON with declared types: one document, or one row a line, read strictly and written without NaN.

Errors name the file, the line and the field, never the value: a row may be a record.
"""

import dataclasses
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from leakscape.errors import ArtifactError

T = TypeVar("T")


def read_rows(path: Path, kind: type[T]) -> Iterator[T]:
    """Stream a JSON Lines file; a BOM, CRLF line ends and blank lines at the end are read without complaint.

    Raises:
        ArtifactError: with the file, the line and the field, never with its value.
    """
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            if not line.strip():
                continue
            yield read_row(line, kind, where=f"{path}, line {number}")


def read_row(line: bytes, kind: type[T], *, where: str) -> T:
    """Read one line of JSON as an instance of `kind`; `where` opens the message of an error.

    Raises:
        ArtifactError: the line is not UTF-8, not JSON, or does not fit `kind`.
    """
    try:
        text = line.decode("utf-8")
        json.loads(text, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ArtifactError(f"{where}: not UTF-8.") from None
    except (ValueError, RecursionError):
        raise ArtifactError(f"{where}: not JSON; the file may be cut off.") from None
    return validate(kind, text, where)


def read_json(path: Path) -> Any:  # noqa: ANN401
    """Read one JSON document in UTF-8, with or without a BOM.

    Raises:
        ArtifactError: the file is missing, no JSON, or holds NaN.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"), parse_constant=_no_constant)
    except FileNotFoundError:
        raise ArtifactError(f"{path} is missing.") from None
    except (ValueError, RecursionError):
        raise ArtifactError(f"{path} is not JSON in UTF-8; the file may be cut off.") from None


def dump_json(value: object) -> str:
    """One line of JSON: UTF-8, keys in their own order, no NaN, no lone surrogate.

    Raises:
        ValueError: the value holds NaN or infinity.
        UnicodeEncodeError: a text is not Unicode.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text.encode("utf-8")
    return text


def plain(value: object) -> Any:  # noqa: ANN401
    """A dataclass instance as a dictionary, anything else as it is."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _adapter(type(value)).dump_python(value)
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401
    return TypeAdapter(kind)


def validate(kind: type[T], text: str, where: str) -> T:
    """Read JSON text as an instance of `kind`, strictly; `where` opens the message of an error.

    Raises:
        ArtifactError: the text does not fit `kind`; the message names the field.
    """
    try:
        return cast("T", _adapter(cast("Any", kind)).validate_json(text, strict=True))
    except ValidationError as error:
        kind_of_fault = error.errors(include_url=False, include_input=False, include_context=False)[0]["type"]
        place = field_of(error, whole="the row")
        raise ArtifactError(f"{where}: {place} does not fit ({kind_of_fault.replace('_', ' ')}).") from None


def field_of(error: ValidationError, *, whole: str = "the document", between: str = ".") -> str:
    """The first field that does not fit, never its value; `whole` where it is all of it."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return between.join(str(part) for part in first["loc"]) or whole


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
