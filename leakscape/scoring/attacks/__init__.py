"""Membership attacks: was this text trained on? Pure functions of what a model makes of it, a file and a paper each."""

from collections.abc import Mapping

from leakscape.scoring.attacks.loss import loss
from leakscape.scoring.attacks.min_k import min_k
from leakscape.scoring.attacks.min_k_plus_plus import min_k_plus_plus
from leakscape.scoring.attacks.observed import Attack, Observed
from leakscape.scoring.attacks.reference import reference
from leakscape.scoring.attacks.zlib_ratio import zlib_ratio

ATTACKS: Mapping[str, Attack] = {
    "loss": loss,
    "zlib": zlib_ratio,
    "min_k": min_k,
    "min_k_plus_plus": min_k_plus_plus,
    "reference": reference,
}
"""Every attack, by the name that reports give it."""

__all__ = ["ATTACKS", "Attack", "Observed"]
