"""Build the container images, and push them: `make images`.

    tools/images.py --base-image python:3.11-slim-bookworm@sha256:... [--repository R] [--push] [NAME...]

Every image is built up to its last stage, whose files come from the stage that tested them. Dates are those of the
commit. With --push, the lines on stdout are what `tools/digests.py` takes.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

from pipelines.images import EVERY, by_digest, read

ROOT = Path(__file__).resolve().parents[1]
WHEELS = "/wheels"
LOCAL = "localhost/"
BUILDERS = ("buildah", "podman")


def output_of(*command: str) -> str:
    """What a command writes."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def facts(source: str) -> dict[str, str]:
    """What the labels say of the source, as build arguments."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or output_of("git", "log", "-1", "--format=%ct")
    changed = "-changed" if output_of("git", "status", "--porcelain", "--untracked-files=no") else ""
    return {
        "VERSION": tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "REVISION": output_of("git", "rev-parse", "HEAD") + changed,
        "SOURCE": source,
        "CREATED": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch))),
        "SOURCE_DATE_EPOCH": epoch,
    }


def build_command(name: str, image: str, given: argparse.Namespace, values: dict[str, str]) -> list[str]:
    """The command that builds an image."""
    arguments = {"BASE_IMAGE": given.base_image, "ACCELERATOR": given.accelerator, **values}
    command = [
        given.builder, "build", "--layers", "--target", "final", "--file", f"images/{name}/Containerfile",
        "--timestamp", values["SOURCE_DATE_EPOCH"], "--tag", image,
    ]  # fmt: skip
    if given.wheels:
        arguments |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": WHEELS}
        command += ["--volume", f"{given.wheels.resolve()}:{WHEELS}:ro"]
    for key, value in arguments.items():
        command += ["--build-arg", f"{key}={value}"]
    return [*command, *given.option, "."]


def build(name: str, given: argparse.Namespace, values: dict[str, str]) -> None:
    """Build an image, push it if asked, and say what it is called."""
    repository = f"{given.repository.rstrip('/')}/{name}" if given.repository else read()[name].repository
    image = f"{repository}:{given.tag}"
    subprocess.run(build_command(name, image, given, values), cwd=ROOT, check=True, stdout=sys.stderr)
    if not given.push:
        print(f"{name}={image}")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "digest"
        subprocess.run([given.builder, "push", "--digestfile", str(file), image], check=True, stdout=sys.stderr)
        print(f"{name}={repository}@{file.read_text(encoding='utf-8').strip()}")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Build the container images, and push them.")
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"of {', '.join(EVERY)} (default: all)")
    parser.add_argument("--base-image", required=True, help="Debian with Python 3.11, by digest unless it is local")
    parser.add_argument("--repository", default="", help="what stands before /NAME (default: as images/digests.yaml)")
    parser.add_argument("--tag", default="dev", help="for people (default: dev)")
    parser.add_argument("--push", action="store_true", help="push each image and give its digest")
    parser.add_argument("--accelerator", choices=("cuda", "cpu"), default="cuda", help="which build of torch")
    parser.add_argument("--wheels", type=Path, help="folder of tools/wheelhouse.sh, in place of an index")
    parser.add_argument("--source", default="", help="address of the source, for the label")
    parser.add_argument(
        "--builder", choices=("buildah", "podman"), default="buildah" if shutil.which("buildah") else "podman"
    )
    parser.add_argument("--option", action="append", default=[], help="of the builder, such as --option=--network=host")
    given = parser.parse_args(argv)
    if not by_digest(given.base_image) and not given.base_image.startswith(LOCAL):
        parser.error(f"--base-image {given.base_image} names no digest: what it means could change under its tag.")
    if unknown := set(given.names) - set(EVERY):
        parser.error(f"there is no image {', '.join(sorted(unknown))}; there are {', '.join(EVERY)}.")
    return given


def main(argv: Sequence[str]) -> None:
    """Build what was asked for."""
    given = parse(argv)
    values = facts(given.source)
    for name in given.names or EVERY:
        build(name, given, values)


if __name__ == "__main__":
    main(sys.argv[1:])
