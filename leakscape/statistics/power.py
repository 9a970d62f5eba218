"""What a comparison can detect, before anything is trained.

Nobody knows the spread of exposure under a defence before it is measured. What is known is its spread where nothing
leaks: a secret's rank is then uniform among all candidates, and `null_exposure` gives the deviation exactly. All
figures here take that one.
"""

import math

import numpy as np

from leakscape.statistics.binomial import share_interval
from leakscape.statistics.one_run import epsilon_lower_bound, planned_guesses
from leakscape.statistics.paired import EXACT_UP_TO

NULL_SD_BITS = 1.437
"""Standard deviation of exposure, in bits, when ranks are uniform among 6,301."""

_WHOLE = 1e-9  # 0.01 * 2,900 is 28.999999999999996 in floats and means 29
_MOST_CANARIES = 1 << 20


def null_exposure(candidates: int) -> tuple[float, float]:
    """Mean and standard deviation, in bits, of exposure when a secret's rank is uniform among so many candidates.

    6,301 -> 1.442 and 1.437; 201 -> 1.417 and 1.374; 2 -> 0.5 and 0.5.

    Raises:
        ValueError: there is no other candidate than the secret.
    """
    if candidates < 2:  # noqa: PLR2004 - the secret and one other
        raise ValueError("a secret is ranked among at least one other name")
    bits = np.log2(candidates / np.arange(1, candidates + 1))
    return float(bits.mean()), float(bits.std())


def detectable_difference(
    n: int, *, sd: float = NULL_SD_BITS, power: float = 0.8, alpha: float = 0.05, paired: bool = False
) -> float:
    """The smallest true difference of two means that a two-sided test finds with the given power.

    Unpaired by the normal approximation, sd 1.437 bits: n 20 / 50 / 100 / 200 -> 1.27 / .81 / .57 / .40 bits.
    Paired by Student's t (Cohen 1988, chapter 2; sd 1: n 34 -> 0.50), which the sign-flip test follows closely.

    Args:
        n: canaries in each condition.
        sd: standard deviation of one value; of one difference when `paired`.
        power: chance to find a difference of that size.
        alpha: level of the test.
        paired: whether the same canaries stand on both sides.

    Returns:
        Infinite where a paired test of n canaries can't reach the level, whatever they show.

    Raises:
        ValueError: n is below 1.
    """
    if n < 1:
        raise ValueError("a comparison needs at least one canary")
    if not paired:
        return _deviates(power, alpha) * sd * math.sqrt(2 / n)
    if n < 2 or smallest_p(n) > alpha:  # noqa: PLR2004 - one difference has no spread
        return math.inf
    return _noncentrality(n - 1, power, alpha) * sd / math.sqrt(n)


def canaries_needed(
    difference: float, *, sd: float = NULL_SD_BITS, power: float = 0.8, alpha: float = 0.05, paired: bool = False
) -> int:
    """How many canaries each condition needs so that a difference of this size is found.

    Raises:
        ValueError: the difference is not positive, or more than a million canaries would be needed.
    """
    if not difference > 0:
        raise ValueError("no number of canaries finds a difference of nothing")

    def enough(n: int) -> bool:
        return detectable_difference(n, sd=sd, power=power, alpha=alpha, paired=paired) <= difference

    low, high = 0, 1
    while not enough(high):
        if high >= _MOST_CANARIES:
            raise ValueError("more than a million canaries would be needed")
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def smallest_p(n: int, *, flips: int = 9_999) -> float:
    """The smallest p that the sign-flip test of n pairs can give: 4 -> .125, 5 -> .0625, 6 -> .03125.

    Raises:
        ValueError: n is below 1.
    """
    if n < 1:
        raise ValueError("a test needs at least one pair")
    return 2.0 ** (1 - n) if n <= EXACT_UP_TO else 1 / (flips + 1)


def most_if_none(n: int, *, confidence: float = 0.95) -> float:
    """The largest share that none of n leaves possible (Clopper and Pearson): 20 -> .168, 100 -> .036.

    It bounds extraction, secrets ranked first and the true-positive rate of an attack alike.

    Raises:
        ValueError: n is below 1.
    """
    return share_interval(0, n, confidence=confidence)[1]


def largest_epsilon(canaries: int, *, delta: float, confidence: float = 0.95) -> float:
    """The lower bound on epsilon if every guessed coin is right: 200 canaries, delta 1e-5 -> 3.49.

    Raises:
        ValueError: there are fewer than two canaries.
    """
    guesses = planned_guesses(canaries)
    return epsilon_lower_bound(canaries, guesses, guesses, delta=delta, confidence=confidence)


def resolves(others: int, rate: float) -> bool:
    """Whether so many others can show a false-positive rate: 100 for 1 %, 1,000 for 0.1 %."""
    return math.floor(rate * others + _WHOLE) > 0


def _deviates(power: float, alpha: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - alpha / 2) + ndtri(power))


def _noncentrality(freedom: int, power: float, alpha: float) -> float:
    """How far from 0, in standard errors, t must be centred for a two-sided test to reject with the given power."""
    from scipy.optimize import brentq
    from scipy.special import nctdtr, stdtrit

    bar = float(stdtrit(freedom, 1 - alpha / 2))

    def lacking(centre: float) -> float:  # the other tail's share is below 1e-4
        return power - 1 + float(nctdtr(freedom, centre, bar))

    return float(brentq(lacking, 0.0, 2 * bar + 4))
