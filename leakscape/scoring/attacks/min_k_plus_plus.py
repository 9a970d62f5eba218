"""Min-K%++ attack (Zhang et al. 2025, "Min-K%++: Improved Baseline for Pre-Training Data Detection")."""

import numpy as np

from leakscape.scoring.attacks.min_k import SHARE
from leakscape.scoring.attacks.observed import Observed, lowest

FLOOR = 1e-6
"""Least deviation, in nats: where the model is certain, float noise must not be divided by next to nothing."""


def min_k_plus_plus(observed: Observed, share: float = SHARE) -> float:
    """Mean of the lowest standardised log-likelihoods: (log p - expected) / deviation at each position.

    A seen token lies at a mode of the model's distribution, so what counts is how it stands among the other tokens
    of the vocabulary at its place.
    """
    standardised = (observed.token_log_likelihoods - observed.expected) / np.maximum(observed.deviation, FLOOR)
    return float(lowest(standardised, share).mean())
