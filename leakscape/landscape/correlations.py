"""Which figures go together over the conditions of a target."""

from collections.abc import Mapping, Sequence

import numpy as np

from leakscape.landscape.estimates import Settings, seed_of
from leakscape.landscape.figures import Correlation, Estimate
from leakscape.statistics.bootstrap import Floats
from leakscape.statistics.correlation import percentiles, replicated, spearman

PAIRS = (
    ("verbatim_perplexity", "semantic_perplexity"),
    ("held_out_perplexity", "medication_perplexity"),
    ("judged_privacy", "verbatim_perplexity"),
    ("judged_quality", "held_out_perplexity"),
    ("exposure_bits", "verbatim_perplexity"),
    ("membership_auc", "exposure_bits"),
)
"""The pairs of paper 000 (the judge's against what was measured: 0.89 for privacy, -0.64 for quality) and two more."""


def correlations(
    names: Sequence[str],
    figures: Mapping[str, Mapping[str, Estimate]],
    drawn: Mapping[str, Mapping[str, Floats]],
    settings: Settings,
) -> list[Correlation]:
    """Spearman's coefficient of each of `PAIRS` that at least three conditions have and that differs among them.

    Args:
        names: the conditions.
        figures: by metric, then by condition.
        drawn: replicates in the order of the figures, by metric, then by condition, (R,); where a metric has none,
            `drawn_low` and `drawn_high` are null.
        settings: of the bootstrap.
    """
    found = []
    for x, y in PAIRS:
        both = [name for name in names if name in figures.get(x, {}) and name in figures.get(y, {})]
        whole = spearman(
            np.array([figures[x][name].value for name in both]),
            np.array([figures[y][name].value for name in both]),
            resamples=settings.resamples,
            seed=seed_of(settings, "correlation", x, y),
            confidence=settings.confidence,
        )
        if whole is not None:
            low, high = _drawn(drawn.get(x, {}), drawn.get(y, {}), both, settings) or (None, None)
            found.append(
                Correlation(
                    value=whole.value, low=whole.low, high=whole.high, n=whole.n, x=x, y=y, p=whole.p,
                    drawn_low=low, drawn_high=high,
                )
            )  # fmt: skip
    return found


def _drawn(
    ours: Mapping[str, Floats], theirs: Mapping[str, Floats], both: Sequence[str], settings: Settings
) -> tuple[float, float] | None:
    if not all(name in side for name in both for side in (ours, theirs)):
        return None
    one, other = (np.stack([side[name] for name in both]) for side in (ours, theirs))
    return percentiles(replicated(one, other), confidence=settings.confidence)
