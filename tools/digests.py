"""Note where images lie, in images/digests.yaml, after a push.

    tools/digests.py NAME=REPOSITORY@sha256:... [...]

The arguments are what `tools/images.py --push` writes; `-` reads them from stdin. Images that are not named keep what
they have. Nothing is written unless all of it fits.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from leakscape.errors import InputError
from pipelines.images import EVERY, Image, by_digest, read

FILE = Path(__file__).resolve().parents[1] / "images" / "digests.yaml"
HEADER = """\
# Where each image lies: the one place that names images. `tools/digests.py` writes the digests after a push.
# Without a digest, `leakscape compile` refuses an image unless --dev is given: then it goes by its tag.
images:
"""


def parse(lines: Iterable[str]) -> dict[str, Image]:
    """Read `NAME=REPOSITORY@DIGEST`.

    Raises:
        InputError: a line is no such thing.
    """
    found = {}
    for line in lines:
        name, _, reference = line.strip().partition("=")
        if name not in EVERY or not by_digest(reference):
            raise InputError(f"{line.strip()!r} is not NAME=REPOSITORY@sha256:..., NAME one of {', '.join(EVERY)}.")
        repository, digest = reference.split("@")
        found[name] = Image(repository=repository, digest=digest)
    return found


def text(images: Mapping[str, Image]) -> str:
    """The file that names these images."""
    entries = [
        f'  {name}:\n    repository: {image.repository}\n    tag: {image.tag}\n    digest: "{image.digest}"\n'
        for name, image in images.items()
    ]
    return HEADER + "".join(entries)


def main(argv: Sequence[str], file: Path = FILE) -> None:
    """Write the digests."""
    lines = [line for line in sys.stdin if line.strip()] if list(argv) == ["-"] else argv
    before = read(file)
    try:
        pushed = parse(lines)
    except InputError as error:
        sys.exit(f"tools/digests.py: {error}")
    changed = {name: image.model_copy(update={"tag": before[name].tag}) for name, image in pushed.items()}
    beside = file.with_suffix(".partial")
    beside.write_text(text(before | changed), encoding="utf-8")
    beside.replace(file)
    print(f"{file.name}: {', '.join(changed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
