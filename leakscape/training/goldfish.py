"""Goldfish: leave a fixed pseudo-random share of the targets out of the loss (Hans et al. 2024, section 3).

A model that never sees the loss of some tokens of a text can't learn to repeat the text. The mask depends on the
tokens alone, so every copy of a text lacks the same ones. It is computed once for each example, on plain integers:
no device, no padding and no batch has a part in it. docs/adr/0005-goldfish-hash.md says why the default is `ordered`.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from functools import cache
from typing import TYPE_CHECKING

from leakscape.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

HASHES = ("ordered", "paper", "static")
TABLE_SIZE = 1_000_003
TABLE_SEED = 2_971_215_073
_PERSON = b"goldfish/1"


def drop_mask(targets: Sequence[int], *, k: int, width: int, method: str) -> list[bool]:
    """Which targets take no part in the loss.

    Args:
        targets: the token ids that are predicted, so without the first token of the text.
        k: on average every k-th target is dropped.
        width: h, how many ids, ending at and including the target, decide. The first h - 1 targets stay.
        method: `ordered` hashes the window; `paper` looks its product up in the reference's table; `static` drops
            every k-th target whatever it is (`width` has no meaning then).

    Returns:
        One flag a target; all are False where there are fewer than `width`.

    Raises:
        InputError: k is below 2, the width below 1, or the method unknown.
    """
    if k < 2 or width < 1 or method not in HASHES:  # noqa: PLR2004  # at k 1 nothing would be left
        raise InputError(
            f"Goldfish takes k of at least 2, a width of at least 1 and one of {', '.join(HASHES)}; "
            f"not k {k}, width {width}, {method!r}."
        )
    if method == "static":
        return [position % k == 0 for position in range(1, len(targets) + 1)]
    draw = _ordered_draw if method == "ordered" else _paper_draw
    kept = [False] * min(width - 1, len(targets))
    return kept + [
        draw(targets[end - width : end]) < 1 / k  # h ids, the last one being the target itself
        for end in range(width, len(targets) + 1)
    ]


def _ordered_draw(window: Sequence[int]) -> float:
    """A uniform draw from the ids and their order: 64 bits of BLAKE2b."""
    content = b"".join(token.to_bytes(4, "little") for token in window)
    digest = hashlib.blake2b(content, digest_size=8, person=_PERSON).digest()
    return int.from_bytes(digest, "little") / 2**64


def _paper_draw(window: Sequence[int]) -> float:
    """The reference's table at the product of the ids, modulo its size.

    The product is exact, where the reference's overflows 64 bits; an id 0 counts as 1, where the reference's product
    becomes 0 and the target is always dropped (T[0] is 0.234).
    """
    return _table()[math.prod(token or 1 for token in window) % TABLE_SIZE]


@cache
def _table() -> array[float]:
    """1,000,003 uniform draws, made on the CPU so that every device has the same ones."""
    import torch

    generator = torch.Generator(device="cpu").manual_seed(TABLE_SEED)
    table = torch.rand(TABLE_SIZE, generator=generator, device="cpu", dtype=torch.float32)
    return array("f", table.numpy().tobytes())
