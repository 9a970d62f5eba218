"""In an image's test stage: whether it holds what its components need, and nothing that it must not: check.py IMAGE."""

import importlib
import importlib.metadata
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import components
from leakscape.contract import spec
from leakscape.local.sources import sources

FORBIDDEN = {
    "base": {"kfp", "kubernetes", "pip", "setuptools", "torch", "vllm"},
    "train": {"kfp", "kubernetes", "pip", "vllm"},
    "evaluate": {"kfp", "kubernetes", "pip", "vllm"},
    "rewrite": {"kfp", "pip"},
    "cli": {"pip", "torch", "vllm"},
}
NEEDS_A_DRIVER = {"vllm"}


def check_library(name: str) -> None:
    """Import a library that is named by its module, or find one that is named by its distribution."""
    module = name.replace("-", "_")
    if importlib.util.find_spec(module) is None:
        importlib.metadata.version(name)
    elif module not in NEEDS_A_DRIVER:
        importlib.import_module(module)


def check_component(name: str, package: str) -> None:
    """Ask a component for its help, and import what it and its libraries are."""
    subprocess.run(["leakscape", name, "--help"], check=True, stdout=subprocess.DEVNULL)
    importlib.import_module(f"{package}.run")
    for library in sources(package).versions:
        check_library(library)


def main(image: str) -> None:
    """Check an image from within."""
    subprocess.run(["leakscape", "--help"], check=True, stdout=subprocess.DEVNULL)
    if image == "cli":
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["leakscape", "compile", "laptop", "--dev", "-o", f"{folder}/laptop.yaml"], check=True)
    found = {name: contract for name, contract in components.contracts().items() if spec(contract).image == image}
    for name, contract in found.items():
        check_component(name, contract.__module__.rpartition(".")[0])
    present = sorted(name for name in FORBIDDEN[image] if importlib.util.find_spec(name))
    if present:
        sys.exit(f"the {image} image must not hold {', '.join(present)}")
    print(f"{image}: {len(found)} components answer, from {Path(components.__file__).parent}")


if __name__ == "__main__":
    main(sys.argv[1])
