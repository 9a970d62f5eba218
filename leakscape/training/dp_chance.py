"""Noise and coins from the operating system's entropy, for a model that will be released.

torch's generators are no secret: on the CPU their seed has 32 bits, which an attacker tries through in minutes. Here
every draw is made of bytes of the system's own generator, so it can't be guessed, and not repeated either.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

_SUMMED = 4
"""Gaussians behind each draw: one alone may show in its last bits which value it was added to (Mironov 2012; Holohan
and Braghin 2021, section 5.1, whose remedy this is)."""


def system_uniform(count: int) -> NDArray[np.float64]:
    """Independent draws from (0, 1], multiples of 2^-53."""
    bits = np.frombuffer(os.urandom(8 * count), dtype=np.uint64) >> np.uint64(11)
    return (bits.astype(np.float64) + 1) * 2.0**-53


def system_normal(like: torch.Tensor, deviation: float) -> torch.Tensor:
    """Independent Gaussian draws of mean 0, of the shape, type and device of a tensor."""
    import torch

    count = like.numel()
    total = np.zeros(count)
    for _ in range(_SUMMED):
        # Box and Muller 1958: the radius from one draw, the angle from another.
        radius, angle = np.sqrt(-2 * np.log(system_uniform(count))), 2 * math.pi * system_uniform(count)
        total += radius * np.cos(angle)
    noise = torch.from_numpy(total * (deviation / math.sqrt(_SUMMED)))
    return noise.reshape(like.shape).to(dtype=like.dtype, device=like.device)
