"""The container images of the components: `images/digests.yaml` is the one place that names them.

KFP's cache tells steps apart by the image's name, and what a tag names can change under it; so a pipeline for a
cluster names images by digest. `make images` builds them, and `tools/digests.py` notes the digests after a push.
"""

import re
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError

from leakscape.contract import IMAGES
from leakscape.errors import InputError
from pipelines.strict import Strict

EVERY = (*IMAGES, "cli")
"""The steps' images, and that of the commands, which holds the Kubeflow client; no pipeline names the latter."""

_BY_DIGEST = re.compile(r"^[^\s@]+@sha256:[0-9a-f]{64}$")
_PLACEHOLDER = "sha256:" + "0" * 64
_PACKAGED = Path(__file__).with_name("digests.yaml")
_IN_CHECKOUT = Path(__file__).parents[1] / "images" / "digests.yaml"


class Image(Strict):
    """Where an image lies.

    Args:
        repository: its name, with its registry's if it has one, and without a tag.
        tag: what people call this version; used only where there is no digest, with `--dev`.
        digest: `sha256:` and 64 hexadecimal digits, as the registry gave it; '' until the image was pushed.
    """

    repository: Annotated[str, Field(pattern=r"^[a-z0-9][^\s@]*$")]
    tag: Annotated[str, Field(pattern=r"^\w[\w.-]{0,127}$")] = "dev"
    digest: Annotated[str, Field(pattern=r"^(sha256:[0-9a-f]{64})?$")] = ""

    @property
    def pinned(self) -> bool:
        """Whether a digest names it."""
        return self.digest not in ("", _PLACEHOLDER)

    @property
    def reference(self) -> str:
        """The image by digest, or by its tag where it has none."""
        return f"{self.repository}@{self.digest}" if self.pinned else f"{self.repository}:{self.tag}"


def digests_file() -> Path:
    """The `digests.yaml` of this installation."""
    return _PACKAGED if _PACKAGED.exists() else _IN_CHECKOUT


def read(path: Path | None = None) -> dict[str, Image]:
    """Read where the images lie, by the short names of `EVERY`; `cli` may be left out.

    Args:
        path: a file like `images/digests.yaml`, which is the default.

    Raises:
        InputError: the file can't be read, an image is missing, or an entry does not fit.
    """
    path = path or digests_file()
    listed = _load(path)
    if missing := [name for name in IMAGES if name not in listed]:
        raise InputError(f"{path} names no image for {', '.join(missing)}.")
    found = {}
    for name in (name for name in EVERY if name in listed):
        try:
            found[name] = Image.model_validate(listed[name])
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(["images", name, *(str(part) for part in first["loc"])])
            raise InputError(f"{path}, {where}: {first['msg']}.") from None
    return found


def images(path: Path | None = None, *, dev: bool = False) -> dict[str, str]:
    """Each step's image as a pipeline names it, by short name.

    Args:
        path: as for `read`.
        dev: let images without a digest go by their tags.

    Raises:
        InputError: as for `read`; or, without `dev`, an image has no digest.
    """
    found = {name: image for name, image in read(path).items() if name in IMAGES}
    if not dev and (bare := [name for name, image in found.items() if not image.pinned]):
        raise InputError(
            f"{path or digests_file()} gives no digest for {', '.join(bare)}: push the images and note their digests, "
            "name another file with --images, or allow tags with --dev."
        )
    return {name: image.reference for name, image in found.items()}


def by_digest(image: str) -> bool:
    """Whether an image is named by digest."""
    return bool(_BY_DIGEST.match(image))


def _load(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise InputError(f"{path} is no YAML file.") from None
    if not isinstance(content, dict) or not isinstance(content.get("images"), dict):
        raise InputError(f"{path} must hold a mapping `images` with an entry for each of {', '.join(IMAGES)}.")
    listed: dict[str, Any] = content["images"]
    return listed
