import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from pipelines import images

ROOT = Path(__file__).parents[2]
BASE, TRAIN = (f"registry.example/team/{name}@sha256:{digit * 64}" for name, digit in (("base", "1"), ("train", "2")))


@pytest.fixture(scope="module")
def digests() -> ModuleType:
    made = importlib.util.spec_from_file_location("digests", ROOT / "tools" / "digests.py")
    assert made
    assert made.loader
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


def test_what_was_pushed_is_noted_and_the_rest_kept(digests: ModuleType, tmp_path: Path):
    file = tmp_path / "digests.yaml"
    file.write_text(images.digests_file().read_text(encoding="utf-8"), encoding="utf-8")
    before = images.read(file)
    digests.main([f"base={BASE}"], file)
    digests.main([f"train={TRAIN}"], file)
    found = images.read(file)
    assert (found["base"].reference, found["train"].reference) == (BASE, TRAIN)
    kept = ("rewrite", "evaluate", "cli")
    assert [found[name] for name in kept] == [before[name] for name in kept]
    assert [path.name for path in tmp_path.iterdir()] == ["digests.yaml"]


@pytest.mark.parametrize("line", ["base=registry.example/base:1.0", f"bass={BASE}", BASE, "base=", "base=@sha256:12"])
def test_a_tag_or_an_unknown_image_changes_nothing(digests: ModuleType, tmp_path: Path, line: str):
    file = tmp_path / "digests.yaml"
    kept = images.digests_file().read_text(encoding="utf-8")
    file.write_text(kept, encoding="utf-8")
    with pytest.raises(SystemExit, match="is not NAME=REPOSITORY@sha256:"):
        digests.main([f"train={TRAIN}", line], file)
    assert file.read_text(encoding="utf-8") == kept


def test_the_file_of_this_checkout_is_as_the_tool_writes_it(digests: ModuleType):
    file = ROOT / "images" / "digests.yaml"
    assert digests.text(images.read(file)) == file.read_text(encoding="utf-8")
    assert set(yaml.safe_load(digests.text(images.read(file)))) == {"images"}
