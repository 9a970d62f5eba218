"""What a membership attack sees of one text."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One text under one model, T scored tokens, at least one.

    Args:
        text: as it stands in the record, without any chat template.
        token_log_likelihoods: log-probability of each token given those before it, nats, (T,).
        expected: mean of the log-probability over the vocabulary, each token weighted by its probability, (T,).
        deviation: its standard deviation, (T,).
        reference_log_likelihood: sum over the same tokens under the reference model, nats; None without a reference.
    """

    text: str
    token_log_likelihoods: Values
    expected: Values
    deviation: Values
    reference_log_likelihood: float | None = None


Attack = Callable[[Observed], float | None]
"""Higher scores speak for membership; None where the attack lacks what it needs."""


def lowest(values: Values, share: float) -> Values:
    """The lowest `share` of the values, rounded down but at least one.

    Raises:
        ValueError: there is no value, or the share is none.
    """
    if values.size == 0 or not 0 < share <= 1:
        raise ValueError("the lowest share is taken of at least one value, and lies above 0 and at most at 1")
    count = max(1, int(share * values.size + 1e-9))
    return np.partition(values, count - 1)[:count]
