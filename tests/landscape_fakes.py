"""Synthetic measurements and evidence for tests of landscapes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from leakscape import artifacts, schemas
from leakscape.artifacts import Provenance
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


def store(path: Path, data: Measurements) -> Path:
    made = Provenance(component="evaluate", inputs={"adapters": list(data.summary.adapters), "canaries": "ca0000"})
    with artifacts.create(path, schema=schemas.MEASUREMENTS, provenance=made) as folder:
        write(folder, data)
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

    def store(self, path: Path) -> Path:
        made = Provenance(component=self.component, inputs={"corpus": self.corpus}, details=self.details)
        with artifacts.create(path, schema=self.schema, provenance=made) as folder:
            name = "residual.json" if self.schema == schemas.MASKS else "summary.json"
            folder.write_json(name, self.summary)
            if self.losses:
                rows = [{"step": step, "loss": loss} for step, loss in enumerate(self.losses, start=1)]
                folder.write_rows("steps.jsonl", rows)
                folder.seconds["wall"] = 12.5
        return path


LEAKS: dict[str, tuple[float, float, float, float]] = {
    # factor on a secret's perplexity: base, per doubling; held-out perplexity; exposure per doubling
    "none": (1.0, 1.0, 18.0, 0.0),
    "direct": (1.1, 0.62, 2.4, 1.25),
    "scrub": (1.15, 0.64, 2.45, 1.2),
    "goldfish": (1.5, 0.74, 2.55, 0.8),
    "dp-8": (1.6, 0.99, 3.9, 0.05),
    "rewrite": (2.0, 0.9, 2.9, 0.3),
    "private-rewrite": (2.1, 0.98, 3.1, 0.05),
}


def laptop(
    folder: Path, conditions: Sequence[str] = ("none", "direct", "scrub"), *, exposure: bool = True
) -> list[Path]:
    """Measurements of a made-up audit: 25 canaries, five to a multiplicity, and 100 held-out records."""
    rng = np.random.default_rng(7)
    hard = 20 * np.exp(rng.normal(0, 0.4, 25))
    records = np.exp(rng.normal(0, 0.15, 100))
    paths = []
    for place, condition in enumerate(conditions):
        base, doubling, held_out, bits = LEAKS[condition]
        noise = np.random.default_rng([place, 1])
        rows = []
        for number in range(25):
            copies = (1, 4, 16, 32, 64)[number % 5]
            factor = base * doubling ** math.log2(copies) * math.exp(noise.normal(0, 0.15 if place else 0))
            name = f"canary-{number:03d}"
            rows.append(row("verbatim", name, 1 + hard[number] * factor, multiplicity=copies, tokens=4))
            rows.append(row("semantic", name, 1 + 3 * hard[number] * factor**0.6, multiplicity=copies, tokens=4))
            rows.append(replace(row("unplanted", f"{name}/unplanted-0", 22 * base, multiplicity=copies), group=name))
            if exposure:
                rank = max(1.0, round(201 * noise.random() * 2 ** -(bits * math.log2(copies))))
                rows.append(ranked(name, rank, 201, copies))
        rows += [row("held_out", f"held-{i:03d}", 1 + held_out * records[i], tokens=90) for i in range(100)]
        rows += [row("medication", f"held-{i:03d}", 1 + held_out**0.8 * records[i], tokens=5) for i in range(100)]
        adapters = () if condition == "none" else (f"ada{place}",)
        data = measurements(rows, condition=condition, adapters=adapters, details={"seed": 0})
        paths.append(store(folder / f"measurements-{condition}", data))
    return paths


def laptop_evidence(folder: Path, conditions: Sequence[str] = ("none", "direct", "scrub")) -> list[Path]:
    """A training log for each trained condition, and masks or a ledger where the corpus was changed."""
    paths = []
    for place, condition in enumerate(conditions):
        if condition == "none":
            continue
        corpus = f"corpus-{condition}" if condition in ("scrub", "rewrite", "private-rewrite") else "corpus-plain"
        summary: dict[str, Any] = {"objective": "causal", "effective_batch": 16}
        if condition == "dp-8":
            summary["privacy"] = {"epsilon": 7.98, "delta": 1e-5, "sigma": 0.64, "accountant": "prv", "unit": "record"}
        losses = tuple(3.2 * math.exp(-step / 40) + 0.9 + 0.05 * place for step in range(90))
        log = Evidence(schemas.TRAINING_LOG, corpus, {"adapter": f"ada{place}"}, summary, losses)
        paths.append(log.store(folder / f"log-{condition}"))
        if condition == "scrub":
            residual = {"recall": {"ssn": {"value": 1.0, "low": 0.99, "high": 1.0, "n": 432}}}
            masks = Evidence(schemas.MASKS, "corpus-plain", {"corpus": corpus}, residual, component="scrub")
            paths.append(masks.store(folder / "masks"))
        if "rewrite" in condition:
            counts = {"rewritten": 432, "quarantined": {}, "tokens_in": 90_000, "tokens_out": 70_000, "cost": 0.0}
            ledger = Evidence(schemas.LEDGER, "corpus-plain", {"corpus": corpus}, counts, component="vllm-rewrite")
            paths.append(ledger.store(folder / f"ledger-{condition}"))
    return paths


PLAN = {
    "name": "laptop",
    "description": "A tiny model on made-up patients, untouched, fine-tuned as it is, and under defences.",
    "seed": 0,
    "targets": [{"name": "tiny", "model": "leakscape/tiny", "revision": ""}],
    "conditions": [
        {"name": "none", "summary": "The base model, untouched."},
        {"name": "direct", "summary": "Fine-tuned on the records as they are."},
        {"name": "scrub", "summary": "Identifiers masked by rules, then fine-tuned."},
    ],
}
