"""Reference attack (Carlini et al. 2021; Watson et al. 2022, "On the Importance of Difficulty Calibration").

On fine-tuned language models: Mireshghallah et al. 2022, "Quantifying Privacy Risks of Masked Language Models Using
Membership Inference Attacks".
"""

from leakscape.scoring.attacks.observed import Observed


def reference(observed: Observed) -> float | None:
    """Mean log-likelihood of a token, less that under the model before fine-tuning (the adapter off).

    What the base model found likely already speaks for nothing. None for the untouched model: it is its own reference.
    """
    if observed.reference_log_likelihood is None:
        return None
    tokens = observed.token_log_likelihoods
    return float((tokens.sum() - observed.reference_log_likelihood) / tokens.size)
