"""Finding coined names in texts: every occurrence, in any case, also inside longer words."""

import re
from collections.abc import Collection
from functools import lru_cache

from leakscape.canaries.names import parts

_CACHED_WORDS = 1 << 16


class NameSearch:
    """Looks for many ASCII names at once.

    A name made of ASCII letters can stand only inside a run of ASCII letters, so a text is cut into such runs and
    each distinct run is looked at once: the cost hardly depends on the number of names.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(name.lower() for name in names)
        self._shortest = min(map(len, self._names), default=1)
        self._run = re.compile(f"[a-z]{{{self._shortest},}}")
        self._in_run = lru_cache(_CACHED_WORDS)(self._look)

    def find(self, text: str) -> frozenset[str]:
        """The names that occur in `text`, lower-case."""
        return frozenset().union(*map(self._in_run, self._run.findall(text.lower())))

    def _look(self, run: str) -> frozenset[str]:
        return frozenset(part for part in parts(run, self._shortest) if part in self._names)
