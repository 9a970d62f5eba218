"""What a model's files tell without loading it: how many parameters it has, and how it cuts text.

Only folders on this machine are read; nothing is fetched.
"""

import importlib.util
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leakscape.errors import InputError
from leakscape.models.load import resolve

_LENGTH_BYTES = 8  # of the header, little-endian, at the start of a safetensors file
_LONGEST_HEADER = 100_000_000  # the format's own limit


@dataclass(frozen=True, slots=True)
class Size:
    """A model that lies on this machine.

    Args:
        parameters: numbers in its safetensors files, tied ones once; None where there is no such file.
        characters_per_token: over the texts given; None where the tokenizer, or the library for it, is not here.
    """

    parameters: int | None
    characters_per_token: float | None


def size_of(model: str, texts: Sequence[str]) -> Size | None:
    """Read a model's size; None for one that is not on this machine.

    Args:
        model: a folder, `leakscape/tiny` or a hub id.
        texts: to count tokens of.
    """
    try:
        folder = Path(resolve(model))
    except InputError:
        return None
    return Size(_parameters(folder), _characters_per_token(folder, texts)) if folder.is_dir() else None


def _parameters(folder: Path) -> int | None:
    files = sorted(folder.glob("*.safetensors"))
    try:
        return sum(_numbers_in(file) for file in files) if files else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # no safetensors file, whatever its name says
        return None


def _numbers_in(file: Path) -> int:
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
        if not 0 < length <= _LONGEST_HEADER:
            raise ValueError("no safetensors header")
        header = json.loads(stream.read(length))
    return sum(math.prod(entry["shape"]) for name, entry in header.items() if name != "__metadata__")


def _characters_per_token(folder: Path, texts: Sequence[str]) -> float | None:
    file = folder / "tokenizer.json"
    if not (file.is_file() and importlib.util.find_spec("tokenizers") and texts):
        return None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokens = sum(len(tokenizer.encode(text).ids) for text in texts)
    return sum(map(len, texts)) / tokens if tokens else None
