"""What a comparison can detect, before anything is trained (normal approximation)."""

import math

NULL_SD_BITS = 1.437
"""Standard deviation of exposure, in bits, when ranks are uniform among 6,301."""


def detectable_difference(
    n: int, *, sd: float = NULL_SD_BITS, power: float = 0.8, alpha: float = 0.05, paired: bool = False
) -> float:
    """The smallest true difference of two means that a two-sided test finds with the given power.

    Unpaired, sd 1.437 bits: n 20 / 50 / 100 / 200 -> 1.27 / .81 / .57 / .40 bits.

    Args:
        n: canaries in each condition.
        sd: standard deviation of one value; of one difference when `paired`.
        power: chance to find a difference of that size.
        alpha: level of the test.
        paired: whether the same canaries stand on both sides.

    Raises:
        ValueError: n is below 1.
    """
    if n < 1:
        raise ValueError("a comparison needs at least one canary")
    return _deviates(power, alpha) * sd * math.sqrt((1 if paired else 2) / n)


def canaries_needed(
    difference: float, *, sd: float = NULL_SD_BITS, power: float = 0.8, alpha: float = 0.05, paired: bool = False
) -> int:
    """How many canaries each condition needs so that a difference of this size is found.

    Raises:
        ValueError: the difference is not positive.
    """
    if not difference > 0:
        raise ValueError("no number of canaries finds a difference of nothing")
    return math.ceil((1 if paired else 2) * (_deviates(power, alpha) * sd / difference) ** 2)


def _deviates(power: float, alpha: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - alpha / 2) + ndtri(power))
