"""Write the hash-locked requirements from pyproject.toml: `make lock`.

One resolution covers laptop and CI on every platform. It is split in three files, because of torch: pip may take its
CPU build, which needs none of the CUDA libraries, or its CUDA build, which needs them all.

    requirements/torch.lock    torch; accepts the hashes of both builds
    requirements/cuda.lock     the CUDA libraries; installed only where pip took the CUDA build
    requirements/laptop.lock   everything else
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
    """Write the locks."""
    found = blocks(resolve())
    FOLDER.mkdir(exist_ok=True)
    header = "# Written by `make lock` from pyproject.toml; do not edit.\n"
    locks: dict[str, list[str]] = {"torch": [], "cuda": [], "laptop": []}
    for block in found:
        locks["torch" if block.startswith("torch==") else "cuda" if CUDA.match(block) else "laptop"].append(block)
    locks["torch"] = [with_cpu_build(block) for block in locks["torch"]]
    for name, wanted in locks.items():
        (FOLDER / f"{name}.lock").write_text(header + "\n".join(wanted) + "\n", encoding="utf-8")
        print(f"requirements/{name}.lock: {len(wanted)} distributions")


if __name__ == "__main__":
    main()
