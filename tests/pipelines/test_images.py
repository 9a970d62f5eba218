from pathlib import Path

import pytest
import yaml

from leakscape.contract import IMAGES
from leakscape.errors import InputError
from pipelines import images

DIGEST = "sha256:" + "5" * 64
ENTRY = {"repository": "registry.example:5000/team/base", "tag": "1.2", "digest": DIGEST}


def written(folder: Path, **changes: dict[str, object]) -> Path:
    file = folder / "digests.yaml"
    file.write_text(yaml.safe_dump({"images": {**dict.fromkeys(IMAGES, ENTRY), **changes}}), encoding="utf-8")
    return file


def test_this_checkout_names_every_image():
    assert tuple(images.read()) == images.EVERY


def test_images_are_named_by_digest_and_by_tag_only_where_asked(tmp_path: Path):
    file = written(tmp_path)
    assert images.images(file) == dict.fromkeys(IMAGES, f"registry.example:5000/team/base@{DIGEST}")
    file = written(tmp_path, train={"repository": "team/train", "tag": "1.2"})
    with pytest.raises(InputError, match=r"digests\.yaml gives no digest for train: push .* --dev\."):
        images.images(file)
    assert images.images(file, dev=True)["train"] == "team/train:1.2"
    assert images.images(file, dev=True)["base"] == f"registry.example:5000/team/base@{DIGEST}"


@pytest.mark.parametrize(
    ("entry", "where"),
    [
        ({"repository": f"team/base@{DIGEST}"}, r"images\.base\.repository"),
        ({"repository": "team/base", "digest": "sha256:12"}, r"images\.base\.digest"),
        ({"repository": "team/base", "digest": DIGEST.upper()}, r"images\.base\.digest"),
        ({"repository": "team/base", "tag": "a b"}, r"images\.base\.tag"),
        ({"repository": "team/base", "sha": DIGEST}, r"images\.base\.sha"),
        ({"tag": "1.2"}, r"images\.base\.repository"),
        (None, r"images\.base"),
    ],
)
def test_an_entry_that_does_not_fit_is_refused_by_its_name(tmp_path: Path, entry: dict[str, object], where: str):
    with pytest.raises(InputError, match=where):
        images.read(written(tmp_path, base=entry))


@pytest.mark.parametrize("text", ["", "images: []", "- 1", "images: {a: ", "\t", "images: {base: {}}", "[" * 5000])
def test_a_file_that_names_no_images_is_refused(tmp_path: Path, text: str):
    file = tmp_path / "digests.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"digests\.yaml"):
        images.read(file)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"none\.yaml can't be read: No such file"):
        images.read(tmp_path / "none.yaml")
