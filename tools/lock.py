"""Write the hash-locked requirements from pyproject.toml: `make lock`.

One resolution covers laptop and CI on every platform. It is split in two files, because of torch: pip may take its CPU
build, which needs none of the CUDA libraries, or its CUDA build, which needs them all.

    requirements/laptop.lock   everything but the CUDA libraries; accepts both builds of torch
    requirements/cuda.lock     the CUDA libraries; installed only where pip took the CUDA build
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
CUDA = re.compile(r"^(nvidia-|cuda-|triton==)")

# The CPU builds carry a local version (+cpu) and are not in the index that the resolver reads.
CPU_BUILDS = {
    "torch==2.13.0": ["6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"],  # CPython 3.11, x86-64
}


def resolve() -> str:
    """Resolve pyproject.toml with all extras and the dev group for every platform."""
    command = [
        sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11",
        "--generate-hashes", "--no-annotate", "--no-header", "--all-extras", "--group", "dev", "pyproject.toml",
    ]  # fmt: skip
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def blocks(text: str) -> list[str]:
    """Split a requirements file into one block a distribution, its hashes included."""
    return [block for block in re.split(r"\n(?=[a-z0-9])", text.strip("\n"), flags=re.IGNORECASE) if block]


def with_cpu_build(block: str) -> str:
    """Accept the CPU build of a distribution too."""
    requirement = block.split(" ", maxsplit=1)[0]
    extra = "".join(f" \\\n    --hash=sha256:{digest}" for digest in CPU_BUILDS.get(requirement, []))
    return block + extra


def main() -> None:
    """Write both locks."""
    found = blocks(resolve())
    FOLDER.mkdir(exist_ok=True)
    header = "# Written by `make lock` from pyproject.toml; do not edit.\n"
    laptop = [with_cpu_build(block) for block in found if not CUDA.match(block)]
    cuda = [block for block in found if CUDA.match(block)]
    (FOLDER / "laptop.lock").write_text(header + "\n".join(laptop) + "\n", encoding="utf-8")
    (FOLDER / "cuda.lock").write_text(header + "\n".join(cuda) + "\n", encoding="utf-8")
    print(f"{len(laptop)} distributions for the laptop, {len(cuda)} more for the CUDA build of torch")


if __name__ == "__main__":
    main()
