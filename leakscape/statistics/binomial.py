"""Intervals of shares: exact ones (Clopper and Pearson 1934), and Wilson's."""

import math


def share_interval(part: int, whole: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The Clopper-Pearson interval of `part` out of `whole`.

    None of 20 -> at most 0.168; none of 100 -> at most 0.036; 86 of 100 -> 0.776 to 0.921.

    Raises:
        ValueError: nothing was counted, or more than the whole.
    """
    if not 0 <= part <= whole or whole < 1:
        raise ValueError(f"no share: {part} of {whole}")
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = float(betaincinv(part, whole - part + 1, tail)) if part else 0.0
    high = float(betaincinv(part + 1, whole - part, 1 - tail)) if part < whole else 1.0
    return low, high


def wilson_interval(part: int, whole: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval (1927) of `part` out of `whole`: none of 20 -> at most 0.161.

    Raises:
        ValueError: nothing was counted, or more than the whole.
    """
    if not 0 <= part <= whole or whole < 1:
        raise ValueError(f"no share: {part} of {whole}")
    from scipy.special import ndtri

    square = float(ndtri((1 + confidence) / 2)) ** 2
    centre = part + square / 2
    arm = math.sqrt(square) * math.sqrt(part * (whole - part) / whole + square / 4)
    return max(0.0, (centre - arm) / (whole + square)), min(1.0, (centre + arm) / (whole + square))
