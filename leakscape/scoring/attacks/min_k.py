"""Min-K% attack (Shi et al. 2024, "Detecting Pretraining Data from Large Language Models")."""

from leakscape.scoring.attacks.observed import Observed, lowest

SHARE = 0.2
"""Of the tokens, the least likely ones; the paper's choice."""


def min_k(observed: Observed, share: float = SHARE) -> float:
    """Mean log-likelihood of the least likely tokens.

    An unseen text holds a few outlying tokens; in a seen one they were learnt.
    """
    return float(lowest(observed.token_log_likelihoods, share).mean())
