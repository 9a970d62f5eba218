"""What a landscape is made of, once it is read: measurements, and evidence about how a condition came about."""

from dataclasses import dataclass
from pathlib import Path

from leakscape.artifacts import Manifest
from leakscape.judging.judgement import Judgement
from leakscape.landscape.traced import Evidence
from leakscape.scoring.attack_rows import AttackRow, ExtractionRow
from leakscape.scoring.measurements import Measurements
from leakscape.scoring.rows import Summary


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurements artifact; `attacks` and `extractions` are empty where none were tried."""

    path: Path
    manifest: Manifest
    data: Measurements
    attacks: tuple[AttackRow, ...] = ()
    extractions: tuple[ExtractionRow, ...] = ()

    @property
    def summary(self) -> Summary:
        """What it was measured on."""
        return self.data.summary

    @property
    def place(self) -> tuple[str, str]:
        """Target and condition."""
        return self.summary.target, self.summary.condition


@dataclass(frozen=True, slots=True)
class Found:
    """One artifact of evidence; `losses` of a training log, `judgements` of what a judge scored."""

    evidence: Evidence
    losses: list[tuple[int, float]]
    judgements: tuple[Judgement, ...] = ()

    @property
    def corpora(self) -> list[str]:
        """The digests of the corpora that it read or speaks of."""
        return digests(self.evidence.inputs.get("corpus"))


def digests(value: object) -> list[str]:
    """The digests that a manifest names in one place: one, several or none."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
