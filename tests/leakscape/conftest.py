import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import components
from leakscape.local.sources import forget

TOYS = Path(__file__).parent / "local" / "toy_components"


@pytest.fixture
def toy_components(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put two toy components in the place of the real ones; gives their folder."""
    before = set(sys.modules)
    monkeypatch.setattr(components, "__path__", [str(TOYS)])
    yield TOYS
    for name in set(sys.modules) - before:
        if name.startswith("components.toy_"):
            del sys.modules[name]
            vars(components).pop(name.split(".")[1], None)
    forget()
