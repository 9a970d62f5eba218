"""Disclosures against phantoms ("Phantoms and Disclosures", arXiv 2606.16952).

What a corpus shows of people it was made from are disclosures; what it shows of people it never saw are phantoms, the
rate of chance. A disclosure rate means something only beside the phantom rate.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from leakscape.corpus_audit.features import Count
from leakscape.statistics.binomial import share_interval
from leakscape.statistics.paired import holm


def excess_p(count: Count) -> float:
    """How likely at least so many hits on train are, given all hits, if train is hit no more often than held-out.

    Fisher's exact test, one-sided. 10 of 10 against 0 of 10 -> 1 / C(20, 10) = 5.4e-6.
    """
    from scipy.stats import fisher_exact

    train = [count.train_hits, count.train - count.train_hits]
    held_out = [count.held_out_hits, count.held_out - count.held_out_hits]
    return float(fisher_exact([train, held_out], alternative="greater").pvalue)


def compare(counts: Mapping[str, Count]) -> dict[str, Any]:
    """Hold both sides against each other, type by type.

    Returns:
        `types`: for each type that both sides carry `train` and `held_out` (each `n`, `hits`, `value`, `low`, `high`;
        exact 95 % intervals), `difference` of the rates, `beyond_chance` (hits on train less those that the phantom
        rate leads to expect, at least 0), `p` and `p_holm`, adjusted over the types tested. `untested`: the other
        types, with the reason.
    """
    tested = {kind: count for kind, count in counts.items() if count.train and count.held_out}
    p_values = np.array([excess_p(count) for count in tested.values()])
    adjusted = holm(p_values)
    return {
        "types": {
            kind: _compared(count, float(p), float(p_holm))
            for (kind, count), p, p_holm in zip(tested.items(), p_values, adjusted, strict=True)
        },
        "untested": {kind: _reason(count) for kind, count in counts.items() if kind not in tested},
    }


def rate(hits: int, n: int) -> dict[str, Any]:
    """A share with its exact 95 % interval; `n` must not be 0."""
    low, high = share_interval(hits, n)
    return {"n": n, "hits": hits, "value": hits / n, "low": low, "high": high}


def _compared(count: Count, p: float, p_holm: float) -> dict[str, Any]:
    phantom = count.held_out_hits / count.held_out
    return {
        "train": rate(count.train_hits, count.train),
        "held_out": rate(count.held_out_hits, count.held_out),
        "difference": count.train_hits / count.train - phantom,
        "beyond_chance": max(0.0, count.train_hits - count.train * phantom),
        "p": p,
        "p_holm": p_holm,
    }


def _reason(count: Count) -> str:
    sides = [side for side, n in (("train", count.train), ("held-out", count.held_out)) if not n]
    return f"nobody in {' or '.join(sides)} carries a rare feature of this type"
