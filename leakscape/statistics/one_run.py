"""A lower bound on epsilon from one training run.

Steinke, Nasr and Jagielski 2023, "Privacy Auditing with One (1) Training Run". Each of m canaries went into the corpus
by a fair coin of its own. The auditor guesses the coins of r of them from the model; v guesses are right. If training
is (epsilon, delta)-DP, many right guesses are unlikely: with q = e^eps / (1 + e^eps) their chance is at most

    p = min(1, beta + 2 m delta alpha),   beta = P[Bin(r, q) >= v],
    alpha = max over i in 1..v of (P[Bin(r, q) >= v - i] - P[Bin(r, q) >= v]) / i.

The bound is the largest epsilon with p at most 1 - confidence: training that were more private would make so many
right guesses too unlikely. What epsilon counts is a coin: a canary with all its copies. Only canaries that stand in
the corpus once bound the epsilon of a single record.

The guesses are fixed before anything is scored, by `planned_guesses` and `guess`: choosing r, or the attack, after a
look at the outcome would void the bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscape.statistics.bootstrap import Floats

_STEPS = 60  # halvings of an interval shorter than 2^6: exact to a float


@dataclass(frozen=True, slots=True)
class EpsilonBound:
    """What one run shows.

    Args:
        epsilon: at least this large, with the given confidence; 0 if nothing is shown.
        canaries: coins tossed, m.
        guesses: r, fixed in advance.
        right: v.
        delta: of the claim that the bound is held against.
        confidence: one-sided.
    """

    epsilon: float
    canaries: int
    guesses: int
    right: int
    delta: float
    confidence: float


def planned_guesses(canaries: int) -> int:
    """How many coins are guessed: half of the canaries, rounded down to an even number, at least two.

    Half of the guesses say "in", half "out"; the canaries between them, of which the scores tell least, are let be.

    Raises:
        ValueError: there are fewer than two canaries.
    """
    if canaries < 2:  # noqa: PLR2004 - one guess of each kind
        raise ValueError("an audit by coins needs at least two canaries")
    return max(2, canaries // 4 * 2)


def guess(scores: Floats, guesses: int) -> NDArray[np.int8]:
    """Guess coins: 1 (in) for the highest scores, -1 (out) for the lowest, as many of each; 0 where none is guessed.

    Of equal scores the earlier canary counts as the higher; the order of canaries is older than the coins.

    Args:
        scores: one a canary, higher for a likelier member, (m,).
        guesses: from `planned_guesses`; even.

    Returns:
        (m,).

    Raises:
        ValueError: guesses are odd or more than canaries, or a score is NaN.
    """
    if guesses % 2 or not 0 <= guesses <= scores.size or bool(np.isnan(scores).any()):
        raise ValueError("guesses come in pairs, at most one a canary, and from numbers only")
    order = np.argsort(-scores, kind="stable")
    guessed = np.zeros(scores.size, dtype=np.int8)
    guessed[order[: guesses // 2]] = 1
    guessed[order[scores.size - guesses // 2 :]] = -1
    return guessed


def audit(
    scores: Floats, included: NDArray[np.bool_] | Sequence[bool], *, delta: float, confidence: float = 0.95
) -> EpsilonBound:
    """Guess by the rule above and bound epsilon.

    Args:
        scores: one a canary, higher for a likelier member, (m,). They must come from one attack, named in advance.
        included: how each coin fell, (m,).
        delta: of the claim that the bound is held against.
        confidence: one-sided.

    Raises:
        ValueError: fewer than two canaries, a score without a coin, or a score that is NaN.
    """
    coins = np.asarray(included, dtype=np.bool_)
    if coins.shape != scores.shape:
        raise ValueError("each score needs its coin")
    guesses = planned_guesses(scores.size)
    guessed = guess(scores, guesses)
    right = int(np.count_nonzero((guessed == 1) & coins) + np.count_nonzero((guessed == -1) & ~coins))
    epsilon = epsilon_lower_bound(scores.size, guesses, right, delta=delta, confidence=confidence)
    return EpsilonBound(epsilon, scores.size, guesses, right, delta, confidence)


def epsilon_lower_bound(canaries: int, guesses: int, right: int, *, delta: float, confidence: float = 0.95) -> float:
    """The largest epsilon that so many right guesses refute; 0 if they refute none.

    delta 1e-5: of 200 canaries 100 guessed, all right -> 3.49; 90 right -> 1.63; 75 right -> .70.

    Raises:
        ValueError: the counts or the levels can't be.
    """
    if not 0 < confidence < 1:
        raise ValueError("the confidence lies between 0 and 1")
    level = 1 - confidence

    def refuted(epsilon: float) -> bool:
        return p_value(canaries, guesses, right, epsilon, delta=delta) <= level

    if not refuted(0.0):
        return 0.0
    # beta is at least q^r, the chance that all guesses are right, which passes the level here.
    low, high = 0.0, max(0.0, -math.log(math.expm1(-math.log(level) / guesses)))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def p_value(canaries: int, guesses: int, right: int, epsilon: float, *, delta: float) -> float:
    """The most that the chance of so many right guesses can be under (epsilon, delta)-DP: p above.

    Raises:
        ValueError: the counts or the levels can't be.
    """
    if not 0 <= right <= guesses <= canaries or guesses < 1:
        raise ValueError("right guesses are among the guesses, and those among the canaries")
    if not (0 <= epsilon < math.inf and 0 <= delta <= 1):
        raise ValueError("epsilon is a number from 0, delta one from 0 to 1")
    from scipy.special import expit
    from scipy.stats import binom

    q = float(expit(epsilon))
    beta = float(binom.sf(right - 1, guesses, q))
    if right == 0 or delta == 0:
        return min(1.0, beta)
    steps = np.arange(1, right + 1)
    falling = np.cumsum(binom.pmf(right - steps, guesses, q))  # P[v - i <= Bin < v]
    alpha = float(np.max(falling / steps))
    return min(1.0, beta + 2 * canaries * delta * alpha)
