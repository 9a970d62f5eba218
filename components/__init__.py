"""The components: each a contract and a `run` that reads artifacts, calls the library and writes artifacts."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from leakscape.contract import spec


def contracts() -> dict[str, type[Any]]:
    """Every component's contract by the component's name, in alphabetical order.

    Raises:
        TypeError: a component's contract module names no CONTRACT.
    """
    modules = [importlib.import_module(f"{__name__}.{found.name}.contract") for found in pkgutil.iter_modules(__path__)]
    for module in modules:
        if not hasattr(module, "CONTRACT"):
            raise TypeError(f"{module.__name__} must name its contract: CONTRACT = TheClass")
    return dict(sorted((spec(module.CONTRACT).name, module.CONTRACT) for module in modules))


def load_run(name: str) -> Callable[[Any], None]:
    """The function that does a component's work, given an instance of its contract.

    Raises:
        KeyError: there is no such component.
    """
    contract = contracts()[name]
    package = contract.__module__.rpartition(".")[0]
    run: Callable[[Any], None] = importlib.import_module(f"{package}.run").run
    return run
