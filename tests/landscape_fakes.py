"""Synthetic measurements and evidence for tests of landscapes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leakscape import artifacts, schemas
from leakscape.artifacts import Provenance
from leakscape.judging.judgement import Judgement
from leakscape.scoring.attack_rows import AttackRow, ExtractionRow, write_attacks, write_extractions
from leakscape.scoring.measurements import Measurements, write
from leakscape.scoring.rows import Row, Summary, Unscorable, probe_summaries

SUMMARY = Summary(
    target="tiny",
    condition="none",
    model="leakscape/tiny",
    revision="",
    tokenizer_hash="feed",
    precision="float32",
    device="cpu",
    chat=False,
    adapters=(),
    batch_size=8,
    held_out_limit=0,
    probes={},
)


def row(probe: str, name: str, perplexity: float, *, multiplicity: int | None = None, tokens: int = 2) -> Row:
    """A row whose perplexity is the one given."""
    nats = -tokens * math.log(perplexity)
    return Row(
        probe=probe, id=name, group=name, multiplicity=multiplicity, tokens=tokens, log_likelihood=nats, straddles=False
    )


def ranked(name: str, rank: float, candidates: int, multiplicity: int) -> Row:
    return replace(row("exposure", name, 2, multiplicity=multiplicity), rank=rank, candidates=candidates)


def measurements(
    rows: Sequence[Row], unscorable: Mapping[str, Sequence[Unscorable]] | None = None, **summary: object
) -> Measurements:
    probes = probe_summaries(rows, unscorable or {})
    return Measurements(replace(SUMMARY, probes=probes, **summary), tuple(rows))


def store(
    path: Path,
    data: Measurements,
    attacks: Sequence[AttackRow] = (),
    extractions: Sequence[ExtractionRow] = (),
    *,
    canaries: str = "ca0000",
) -> Path:
    made = Provenance(component="evaluate", inputs={"adapters": list(data.summary.adapters), "canaries": canaries})
    with artifacts.create(path, schema=schemas.MEASUREMENTS, provenance=made) as folder:
        write(folder, data)
        if attacks:
            write_attacks(folder, attacks)
        if extractions:
            write_extractions(folder, extractions)
    return path


@dataclass(frozen=True)
class Evidence:
    """One artifact of evidence, to be stored."""

    schema: str
    corpus: str
    details: dict[str, Any]
    summary: dict[str, Any] = field(default_factory=dict)
    losses: tuple[float | None, ...] = ()
    component: str = "lora-train"
    judgements: tuple[Judgement, ...] = ()

    def store(self, path: Path) -> Path:
        made = Provenance(component=self.component, inputs={"corpus": self.corpus}, details=self.details)
        with artifacts.create(path, schema=self.schema, provenance=made) as folder:
            name = {schemas.MASKS: "residual.json", schemas.DISCLOSURES: "disclosures.json"}.get(self.schema)
            folder.write_json(name or "summary.json", self.summary)
            if self.judgements:
                folder.write_rows("judgements.jsonl", self.judgements)
            if "answers" in self.summary:
                folder.seconds["calls"] = 88.0
            if self.losses:
                rows = [{"step": step, "loss": loss} for step, loss in enumerate(self.losses, start=1)]
                folder.write_rows("steps.jsonl", rows)
                folder.seconds["wall"] = 12.5
        return path
