"""From a component's parameters to the settings of the library, by name."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, cast

T = TypeVar("T")


def settings_of(source: object, kind: Callable[..., T], **given: object) -> T:
    """Build a settings dataclass from the attributes of `source` that bear its fields' names.

    Args:
        source: a contract's instance, or wider settings.
        kind: the dataclass to build.
        given: fields that `source` does not have or that are decided elsewhere.

    Raises:
        AttributeError: `source` lacks a field that is not given. No default takes its place unseen.
    """
    names = [field.name for field in dataclasses.fields(cast("Any", kind)) if field.name not in given]
    return kind(**{name: getattr(source, name) for name in names}, **given)
