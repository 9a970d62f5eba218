"""Exact intervals of shares (Clopper and Pearson 1934)."""


def share_interval(part: int, whole: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The Clopper-Pearson interval of `part` out of `whole`.

    None of 20 -> at most 0.168; none of 100 -> at most 0.036; 86 of 100 -> 0.776 to 0.921.

    Raises:
        ValueError: nothing was counted, or more than the whole.
    """
    if not 0 <= part <= whole or whole < 1:
        raise ValueError(f"no share: {part} of {whole}")
    from scipy.stats import binomtest

    found = binomtest(part, whole).proportion_ci(confidence_level=confidence, method="exact")
    return float(found.low), float(found.high)
