"""Zlib attack (Carlini et al. 2021, "Extracting Training Data from Large Language Models", section 5.1)."""

import zlib

from leakscape.scoring.attacks.observed import Observed

LEVEL = 9
"""Of the compression; stated because the score depends on it."""


def zlib_ratio(observed: Observed) -> float:
    """Mean log-likelihood of a token over the compressed size of the text in bytes.

    A repetitive text is likely under any model and compresses well, so its size takes that likelihood back.
    """
    size = len(zlib.compress(observed.text.encode("utf-8"), LEVEL))
    return float(observed.token_log_likelihoods.mean()) / size
