import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import components
from leakscape.local.sources import Sources, forget, sources

CONTRACT = "from leakscape.contract import Spec\n"
RUN = """
from typing import TYPE_CHECKING
from components.toy_made import helper
if TYPE_CHECKING:
    from components.toy_made import only_types

def run(contract):
    import numpy
    from components.toy_made.inner.deep import VALUE
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A component on disk whose files a test changes."""
    package = tmp_path / "toy_made"
    files = {
        "__init__.py": "",
        "contract.py": CONTRACT,
        "run.py": RUN,
        "helper.py": "",
        "only_types.py": "",
        "unused.py": "",
        "inner/__init__.py": "",
        "inner/deep.py": "from ..helper import x\nimport yaml",
        "inner/tables/drugs.csv": "a,b\n",
        "README.md": "",
        "requirements.in": "pydantic  # for rows\n\n# nothing else\n",
    }
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(components, "__path__", [str(tmp_path)])
    yield package
    for name in [name for name in sys.modules if name.startswith("components.toy_made")]:
        del sys.modules[name]
    forget()


def read() -> Sources:
    forget()
    return sources("components.toy_made")


@pytest.mark.parametrize(
    "name", ["contract.py", "run.py", "helper.py", "inner/__init__.py", "inner/deep.py", "inner/tables/drugs.csv"]
)
def test_what_is_reached_counts(made: Path, name: str) -> None:
    before = read().digest
    (made / name).write_text((made / name).read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    assert read().digest != before


@pytest.mark.parametrize("name", ["only_types.py", "unused.py", "README.md"])
def test_what_is_not_reached_does_not_count(made: Path, name: str) -> None:
    before = read().digest
    (made / name).write_text("# changed\n", encoding="utf-8")
    assert read() == Sources(before, read().versions)


def test_libraries_are_those_imported_and_required(made: Path) -> None:
    import numpy as np

    assert made.is_dir()
    versions = read().versions
    assert {"numpy", "pydantic", "yaml"} <= set(versions)
    assert versions["numpy"] == np.__version__
    assert "typing" not in versions
    assert "leakscape" not in versions


def test_the_digest_does_not_depend_on_where_the_files_lie(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read().digest
    moved = made.parent / "elsewhere"
    moved.mkdir()
    made.rename(moved / "toy_made")
    sys.modules.pop("components.toy_made", None)
    sys.modules.pop("components.toy_made.inner", None)
    monkeypatch.setattr(components, "__path__", [str(moved)])
    assert read().digest == before
