"""Exposure: how far a secret stands out among names that were never planted (Carlini et al. 2019, "The Secret Sharer").

A model that never saw the secret ranks it anywhere: uniform ranks among 6,301 give a mean of 1.44 bits and a standard
deviation of 1.437, the most being log2(6301) = 12.62.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CEILING_BITS = 64.0
"""The most that a fitted tail is believed: farther out the fit says nothing."""

_FEWEST = 30  # references below which no three parameters are fitted


@dataclass(frozen=True, slots=True)
class Extrapolated:
    """Exposure read off a fitted distribution.

    Args:
        bits: None where no fit is possible.
        flag: `clipped` at `CEILING_BITS`, `too few references`, `references all equal`; empty otherwise.
    """

    bits: float | None
    flag: str = ""


def mean_rank(secret: float, references: Sequence[float] | NDArray[np.float64]) -> float:
    """The secret's place by log-likelihood among the references and itself, 1 for the likeliest.

    Equal ones share their mean place, so the order in which candidates come has no effect: with 6,300 references all
    equal to the secret it is 3,151.

    Args:
        secret: its log-likelihood.
        references: theirs, (N,).

    Raises:
        ValueError: a value is NaN.
    """
    others = np.asarray(references, dtype=np.float64)
    if math.isnan(secret) or bool(np.isnan(others).any()):
        raise ValueError("a rank needs numbers")
    return 1.0 + float(np.count_nonzero(others > secret)) + float(np.count_nonzero(others == secret)) / 2


def exposure(rank: float, candidates: int) -> float:
    """log2(candidates / rank), in bits, from 0 to log2(candidates).

    Args:
        rank: from `mean_rank`.
        candidates: how many were ranked, the secret included.

    Raises:
        ValueError: the rank is none of theirs.
    """
    if not 1 <= rank <= candidates:
        raise ValueError("a rank lies between 1 and the number of candidates")
    return math.log2(candidates / rank)


def extrapolated_exposure(secret: float, references: Sequence[float] | NDArray[np.float64]) -> Extrapolated:
    """Minus log2 of the chance that a skew-normal draw is likelier than the secret.

    Fits a skew normal to the references' log-perplexities (their negative summed log-likelihoods) by maximum
    likelihood, as TensorFlow Privacy's secret sharer does. It can pass log2(N + 1), but trusts the fit's tail.

    Args:
        secret: its log-likelihood.
        references: theirs, (N,).

    Raises:
        ValueError: a value is no finite number.
    """
    perplexities = -np.asarray(references, dtype=np.float64)
    if not (math.isfinite(secret) and bool(np.isfinite(perplexities).all())):
        raise ValueError("a fit needs finite numbers")
    if perplexities.size < _FEWEST:
        return Extrapolated(None, "too few references")
    centre, spread = float(np.mean(perplexities)), float(np.std(perplexities))
    if spread <= 1e-9 * max(1.0, abs(centre)):
        return Extrapolated(None, "references all equal")
    from scipy.stats import skewnorm

    shape, location, scale = skewnorm.fit((perplexities - centre) / spread)
    bits = abs(float(skewnorm.logcdf((-secret - centre) / spread, shape, location, scale))) / math.log(2)
    if bits < CEILING_BITS:
        return Extrapolated(bits)
    return Extrapolated(CEILING_BITS, "clipped")
