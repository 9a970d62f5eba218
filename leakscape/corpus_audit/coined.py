"""Coined names: those that were planted against those that were coined alike and planted nowhere.

Names are coined in random order, so which of them became secrets is a fair draw: a corpus that knows nothing of the
canaries holds planted and unplanted ones at the same rate.
"""

from collections.abc import Iterable

from leakscape.canaries.canary import Canary
from leakscape.canaries.search import NameSearch
from leakscape.corpus_audit.features import Count

COINED = "coined_name"


class CoinedNames:
    """Looks for all coined names, also inside longer words.

    Args:
        canaries: whose secrets were planted; one of multiplicity 0 was left out by a coin and counts as unplanted.
        alternatives: names that were planted nowhere.
    """

    def __init__(self, canaries: Iterable[Canary], alternatives: Iterable[str]) -> None:
        self._multiplicity = {canary.secret.lower(): canary.multiplicity for canary in canaries}
        self._multiplicity |= dict.fromkeys((name.lower() for name in alternatives), 0)
        self._search = NameSearch(self._multiplicity)
        self._found: set[str] = set()

    def look(self, text: str) -> None:
        """Look for every name in one text of the audited corpus."""
        self._found |= self._search.find(text)

    def count(self) -> Count:
        """Names planted and found, unplanted and found."""
        planted = {name for name, times in self._multiplicity.items() if times}
        return Count(
            train=len(planted),
            train_hits=len(planted & self._found),
            held_out=len(self._multiplicity) - len(planted),
            held_out_hits=len(self._found - planted),
        )

    def by_multiplicity(self) -> dict[int, tuple[int, int]]:
        """Planted names found and planted in all, by how often they were planted."""
        counts: dict[int, tuple[int, int]] = {}
        for name, times in sorted(self._multiplicity.items()):
            if times:
                found, planted = counts.get(times, (0, 0))
                counts[times] = (found + (name in self._found), planted + 1)
        return dict(sorted(counts.items()))
