"""The container images of the components, by digest: a tag could change under the cache."""

import re

from leakscape.contract import IMAGES

_PLACEHOLDER = "sha256:" + "0" * 64
_BY_DIGEST = re.compile(r"^[^\s@]+@sha256:[0-9a-f]{64}$")


def images() -> dict[str, str]:
    """Each image's name and digest, by its short name (`base`, `train`, `rewrite`, `evaluate`).

    The digests are placeholders until the images are built: a cluster refuses them, a local run needs none.
    """
    return {name: f"leakscape/{name}@{_PLACEHOLDER}" for name in IMAGES}


def by_digest(image: str) -> bool:
    """Whether an image is named by digest alone."""
    return bool(_BY_DIGEST.match(image))
