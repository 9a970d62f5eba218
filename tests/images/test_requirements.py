"""Each image holds what its components import, also inside functions, and nothing of what it must not hold."""

import ast
import importlib.metadata
import re
import runpy
import tomllib
from functools import cache
from pathlib import Path

import pytest

import components
from leakscape.contract import spec
from leakscape.local.sources import sources
from pipelines.images import EVERY

ROOT = Path(__file__).parents[2]
COMPONENTS = components.contracts()
CUDA = ("nvidia-", "cuda-", "triton")


def normal(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pairs(path: Path) -> list[tuple[str, str]]:
    """Each distribution of a lock with its version."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^ ]+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(normal(name), version) for name, version in found]


@cache
def lock(path: Path) -> dict[str, str]:
    """The locked versions by distribution."""
    return dict(pairs(path))


def locked(image: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in (ROOT / "images" / image).glob("*.lock"):
        found |= lock(path)
    return found


def versions_here() -> set[tuple[str, str]]:
    """The versions that the tests run with; some differ between versions of Python."""
    return {pair for path in (ROOT / "requirements").glob("*.lock") for pair in pairs(path)}


@cache
def distributions() -> dict[str, list[str]]:
    return dict(importlib.metadata.packages_distributions())


def distribution(library: str) -> str:
    """The distribution of a library that is named by its module or by its distribution."""
    return normal(distributions().get(library, [library])[0])


def package(name: str) -> str:
    return COMPONENTS[name].__module__.rpartition(".")[0]


@pytest.mark.parametrize("name", COMPONENTS)
def test_what_a_component_imports_is_locked_in_its_image(name: str):
    found = {distribution(library) for library in sources(package(name)).versions}
    missing = found - set(locked(spec(COMPONENTS[name]).image))
    assert not missing, f"`make lock`, or name {missing} in images/{spec(COMPONENTS[name]).image}/requirements.in"


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_component_lists_its_requirements(name: str):
    file = ROOT / package(name).replace(".", "/") / "requirements.in"
    lines = [line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines()]
    wanted = {normal(line) for line in lines if line}
    assert wanted <= set(locked(spec(COMPONENTS[name]).image))


@pytest.mark.parametrize("image", EVERY)
def test_every_image_holds_what_the_package_requires(image: str):
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    for requirement in required:
        name, least = requirement.split(">=")
        version = locked(image)[normal(name)]
        assert [int(part) for part in version.split(".")] >= [int(part) for part in least.split(".")], requirement


@pytest.mark.parametrize("image", EVERY)
def test_no_image_holds_what_it_must_not(image: str):
    forbidden = runpy.run_path(str(ROOT / "images" / "check.py"))["FORBIDDEN"][image]
    assert "pip" in forbidden
    assert "kfp" in forbidden or image == "cli"
    assert not forbidden & set(locked(image)), image


def test_vllm_stands_in_the_rewrite_image_alone():
    assert [image for image in EVERY if "vllm" in locked(image)] == ["rewrite"]
    assert [image for image in EVERY if "torch" not in locked(image)] == ["base", "cli"]
    assert [image for image in EVERY if "kfp" in locked(image)] == ["cli"]


@pytest.mark.parametrize("image", ["base", "train", "evaluate", "cli"])
def test_images_hold_the_versions_that_the_tests_run_with(image: str):
    assert set(locked(image).items()) <= versions_here()


@pytest.mark.parametrize("path", sorted((ROOT / "images").rglob("*.lock")), ids=str)
def test_every_distribution_of_a_lock_has_a_hash(path: Path):
    blocks = re.split(r"\n(?=[A-Za-z0-9])", path.read_text(encoding="utf-8"))[1:]
    assert len(blocks) == len(lock(path))
    assert all("--hash=sha256:" in block for block in blocks)


# cuda.lock is left out where torch is its CPU build: it may hold nothing that others than torch need.
@pytest.mark.parametrize("image", ["train", "evaluate"])
def test_only_cuda_libraries_can_be_left_out(image: str):
    assert all(name.startswith(CUDA) for name in lock(ROOT / "images" / image / "cuda.lock"))
    assert not [name for name in lock(ROOT / "images" / image / "requirements.lock") if name.startswith(CUDA)]


def test_the_train_image_s_libraries_but_opacus_stand_in_the_evaluate_image():
    """So that a trial on one machine can train in it too: docs/images.md."""
    assert set(locked("train")) - set(locked("evaluate")) <= {"opacus", "opt-einsum"}


def test_images_share_their_text_but_for_the_first_lines():
    texts = {name: (ROOT / "images" / name / "Containerfile").read_text(encoding="utf-8") for name in EVERY}
    texts["base"] = texts["base"].partition("\n# Only on demand")[0]
    bodies = {name: text.partition("ARG BASE_IMAGE\n")[2] for name, text in texts.items()}
    assert len(set(bodies.values())) == 1
    assert "COPY --from=test /leakscape /" in bodies["base"].partition(" AS final\n")[2]
    assert all(f"ARG IMAGE={name}\n" in texts[name] for name in EVERY)


def test_the_check_of_an_image_is_python_3_11():
    ast.parse((ROOT / "images" / "check.py").read_text(encoding="utf-8"), feature_version=(3, 11))
