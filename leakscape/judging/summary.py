"""Judgements added up; every single one is kept beside this."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from leakscape.judging.judgement import Judgement

ASPECTS = ("privacy", "quality")


@dataclass(slots=True)
class Tally:
    """Counts over judgements as they come."""

    judged: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(ASPECTS, 0.0))
    scored: Counter[str] = field(default_factory=Counter)

    def add(self, judgement: Judgement) -> None:
        """Count one judgement."""
        self.judged += 1
        self.reasons[judgement.reason] += 1
        for aspect in ASPECTS:
            score = getattr(judgement, aspect)
            if score is not None:
                self.scored[aspect] += 1
                self.sums[aspect] += score

    def summary(self) -> dict[str, Any]:
        """`judged`, `reasons`, and for each aspect `n`, the number left `unscored` and, where there are any, `mean`."""
        aspects = {aspect: self._aspect(aspect) for aspect in ASPECTS}
        return {"judged": self.judged, "reasons": dict(sorted(self.reasons.items())), **aspects}

    def _aspect(self, aspect: str) -> dict[str, float]:
        n = self.scored[aspect]
        counted: dict[str, float] = {"n": n, "unscored": self.judged - n}
        return {**counted, "mean": self.sums[aspect] / n} if n else counted
