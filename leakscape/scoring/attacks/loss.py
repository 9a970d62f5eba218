"""Loss attack (Yeom et al. 2018, "Privacy Risk in Machine Learning: Analyzing the Connection to Overfitting")."""

from leakscape.scoring.attacks.observed import Observed


def loss(observed: Observed) -> float:
    """Mean log-likelihood of a token: minus the loss that training lowers on its members.

    What is common is likely too, seen or not: this attack is the baseline that the others correct.
    """
    return float(observed.token_log_likelihoods.mean())
