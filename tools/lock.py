"""Write the hash-locked requirements: `make lock`.

One resolution of pyproject.toml covers laptop and CI on every platform. It is split in three files, because of torch:
pip may take its CPU build, which needs none of the CUDA libraries, or its CUDA build, which needs them all.

    requirements/torch.lock    torch; accepts the hashes of both builds
    requirements/cuda.lock     the CUDA libraries; installed only where pip took the CUDA build
    requirements/laptop.lock   everything else

Each image has a resolution of its own, for Linux on x86-64 and ARM: what pyproject.toml requires of everyone, what the
image's components name in their `requirements.in`, and what `images/NAME/requirements.in` adds. The versions are those
of the first resolution, which the tests run with; but vLLM demands other ones, so the image that holds it is free.

    images/NAME/requirements.lock   everything but the CUDA libraries (all, where vLLM stands)
    images/NAME/cuda.lock           the CUDA libraries
    images/build.lock               what the images are built with

The tools that check charts, manifests and Containerfiles are apart, because checkov pins tightly.

    requirements/checks/checks.lock
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

import components
from leakscape.contract import spec
from pipelines.images import EVERY

ROOT = Path(__file__).resolve().parents[1]
LAPTOP = ROOT / "requirements"
IMAGE_FOLDERS = ROOT / "images"
OWN_VERSIONS = {"rewrite"}
HEADER = "# Written by `make lock`; do not edit.\n"
CUDA = re.compile(r"^(nvidia-|cuda-|triton==)")

# The CPU builds carry a local version (+cpu) and are not in the index that the resolver reads.
CPU_BUILDS = {
    "torch==2.13.0": ["6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"],  # CPython 3.11, x86-64
}

MACHINES = ("x86_64", "aarch64")
LINUX = "sys_platform == 'linux' and implementation_name == 'cpython' and python_full_version < '3.12'"


def compile_(*arguments: str, folder: Path = ROOT) -> str:
    """Resolve requirements with hashes, for every platform that the folder's pyproject.toml names."""
    command = [
        sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11",
        "--generate-hashes", "--no-annotate", "--no-header", *arguments,
    ]  # fmt: skip
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def blocks(text: str) -> list[str]:
    """Split a requirements file into one block a distribution, its hashes included."""
    return [block for block in re.split(r"\n(?=[a-z0-9])", text.strip("\n"), flags=re.IGNORECASE) if block]


def with_cpu_build(block: str) -> str:
    """Accept the CPU build of a distribution too."""
    requirement = block.split(" ", maxsplit=1)[0]
    extra = "".join(f" \\\n    --hash=sha256:{digest}" for digest in CPU_BUILDS.get(requirement, []))
    return block + extra


def short_marker(block: str) -> str:
    """Leave out of a block's first line what holds in every image; keep the machine where there is but one."""
    first, *others = block.split("\n")
    requirement, _, marker = first.removesuffix(" \\").partition(" ; ")
    named = [machine for machine in MACHINES if machine in marker]
    kept = f" ; platform_machine == '{named[0]}'" if len(named) == 1 else ""
    return "\n".join([f"{requirement}{kept} \\", *others])


def write(path: Path, found: Iterable[str]) -> None:
    """Write a lock."""
    wanted = [with_cpu_build(block) for block in found]
    path.write_text(HEADER + "".join(f"{block}\n" for block in wanted), encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {len(wanted)} distributions")


def lock_laptop() -> None:
    """Lock pyproject.toml with all extras and the dev group."""
    found = blocks(compile_("--all-extras", "--group", "dev", "pyproject.toml"))
    parts: dict[str, list[str]] = {"torch": [], "cuda": [], "laptop": []}
    for block in found:
        parts["torch" if block.startswith("torch==") else "cuda" if CUDA.match(block) else "laptop"].append(block)
    for name, wanted in parts.items():
        write(LAPTOP / f"{name}.lock", wanted)


def lock_image(name: str) -> None:
    """Lock what an image holds."""
    folder = IMAGE_FOLDERS / name
    own = name in OWN_VERSIONS
    found = linux_blocks([*requirements_of(name), str(folder / "requirements.in")], constrained=not own)
    cuda = [] if own else [block for block in found if CUDA.match(block)]
    write(folder / "requirements.lock", [block for block in found if block not in cuda])
    if cuda:
        write(folder / "cuda.lock", cuda)


def linux_blocks(files: Iterable[str], *, constrained: bool) -> list[str]:
    """Resolve requirements files for images, with the laptop's versions if `constrained`."""
    constraints = [str(path) for path in sorted(LAPTOP.glob("*.lock"))] if constrained else []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        environments = [f"{LINUX} and platform_machine == '{machine}'" for machine in MACHINES]
        (folder / "pyproject.toml").write_text(f"[tool.uv]\nenvironments = {environments}\n", encoding="utf-8")
        core = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
        (folder / "core.in").write_text("\n".join(core) + "\n", encoding="utf-8")
        options = [option for path in constraints for option in ("--constraint", path)]
        return [short_marker(block) for block in blocks(compile_("core.in", *files, *options, folder=folder))]


def requirements_of(image: str) -> list[str]:
    """The requirements files of an image's components."""
    found = components.contracts().values()
    modules = [contract.__module__ for contract in found if spec(contract).image == image]
    files = [ROOT / module.replace(".", "/").removesuffix("contract") / "requirements.in" for module in modules]
    return [str(file) for file in files if file.exists()]


def lock_checks() -> None:
    """Lock the tools that check charts, manifests and Containerfiles."""
    folder = LAPTOP / "checks"
    write(folder / "checks.lock", blocks(compile_("--overrides", "checks.overrides", "checks.in", folder=folder)))


def main() -> None:
    """Write the locks."""
    lock_laptop()
    lock_checks()
    for name in EVERY:
        lock_image(name)
    write(IMAGE_FOLDERS / "build.lock", blocks(compile_("images/build.in")))


if __name__ == "__main__":
    main()
