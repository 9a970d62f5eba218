"""A made-up laptop audit: its measurements, its evidence and its plan."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from landscape_fakes import Evidence, measurements, ranked, row, store

from leakscape import schemas
from leakscape.corpus_audit.disclosures import compare
from leakscape.corpus_audit.features import Count
from leakscape.judging.judgement import Judgement
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import Landscape
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.scoring.attack_rows import AttackRow, ExtractionRow

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


FULL = tuple(LEAKS)
"""Every condition of the made-up audits."""


def laptop(
    folder: Path,
    conditions: Sequence[str] = ("none", "direct", "scrub"),
    *,
    exposure: bool = True,
    coins: bool = False,
    target: str = "tiny",
) -> list[Path]:
    """Measurements of a made-up audit: 25 canaries, five to a multiplicity, and 100 held-out records.

    With coins there are 25 further canaries that a coin left out.
    """
    rng = np.random.default_rng(7)
    hard = 20 * np.exp(rng.normal(0, 0.4, 25))
    records = np.exp(rng.normal(0, 0.15, 100))
    hard = np.concatenate([hard, 20 * np.exp(rng.normal(0, 0.4, 25))]) if coins else hard
    paths = []
    for place, condition in enumerate(conditions):
        base, doubling, held_out, bits = LEAKS[condition]
        noise = np.random.default_rng([place, 1])
        rows = []
        for number, difficulty in enumerate(hard):
            copies = _copies(number)
            doublings = math.log2(copies) if copies else 0.0
            factor = base * doubling**doublings * math.exp(noise.normal(0, 0.15 if place else 0))
            name = f"canary-{number:03d}"
            rows.append(row("verbatim", name, 1 + difficulty * factor, multiplicity=copies, tokens=4))
            rows.append(row("semantic", name, 1 + 3 * difficulty * factor**0.6, multiplicity=copies, tokens=4))
            rows.append(replace(row("unplanted", f"{name}/unplanted-0", 22 * base, multiplicity=copies), group=name))
            if exposure:
                rank = max(1.0, round(201 * noise.random() * 2 ** -(bits * doublings)))
                rows.append(ranked(name, rank, 201, copies))
        rows += [row("held_out", f"held-{i:03d}", 1 + held_out * records[i], tokens=90) for i in range(100)]
        rows += [row("medication", f"held-{i:03d}", 1 + held_out**0.8 * records[i], tokens=5) for i in range(100)]
        adapters = () if condition == "none" else (f"ada{place}",)
        score = 0.6 - 0.01 * held_out
        task = {"metric": "acc", "value": score, "stderr": 0.03, "n": 250, "higher_is_better": True, "version": "1.0"}
        details = {"seed": 0, "harness": {"arc_easy": task}}
        data = measurements(rows, target=target, condition=condition, adapters=adapters, details=details)
        there = attacked(condition, place, canaries=len(hard)), extracted(condition, place, canaries=len(hard))
        paths.append(store(folder / f"measurements-{condition}", data, *there))
    return paths


def _copies(number: int) -> int:
    return (1, 4, 16, 32, 64)[number % 5] if number < 25 else 0


def attacked(condition: str, place: int, *, canaries: int = 25, records: int = 120) -> list[AttackRow]:
    """Five attacks (four on the untouched model) on the canaries, 120 training records and 120 others."""
    bits = LEAKS[condition][3]
    rows = []
    for number, attack in enumerate(("loss", "zlib", "min_k", "min_k_plus_plus", "reference")):
        if attack == "reference" and condition == "none":
            continue
        noise, gain = np.random.default_rng([place, 2, number]), (0.7, 0.4, 0.8, 0.9, 1.0)[number] * bits

        def add(name: str, kind: str, copies: int | None, lift: float, *, member: bool) -> None:
            score = float(noise.normal(lift, 1))  # noqa: B023 - used within the round
            rows.append(AttackRow(attack=attack, id=name, kind=kind, member=member, multiplicity=copies, score=score))  # noqa: B023

        for canary in range(canaries):
            copies = _copies(canary)
            lift = gain * (0.5 + 0.4 * math.log2(copies)) if copies else 0.0
            add(f"canary-{canary:03d}", "canary", copies, lift, member=copies > 0)
        for record in range(records):
            add(f"train-{record:03d}", "record", None, gain, member=True)
            add(f"held-{record:03d}", "record", None, 0.0, member=False)
    return rows


def extracted(condition: str, place: int, *, canaries: int = 25, samples: int = 4) -> list[ExtractionRow]:
    """A greedy continuation and some samples of each canary."""
    bits, noise = LEAKS[condition][3], np.random.default_rng([place, 3])
    rows = []
    for canary in range(canaries):
        copies = _copies(canary)
        chance = min(0.95, (bits / 1.25) ** 2 * copies / 40)
        for number in range(samples + 1):
            drawn = float(noise.random())
            exact, near = drawn < chance * (0.6 if number else 1.0), drawn < 1.3 * chance
            similarity = 1.0 if exact else 0.92 if near else 0.4
            rows.append(
                ExtractionRow(
                    id=f"canary-{canary:03d}", multiplicity=copies, number=number, tokens=4, exact=exact,
                    near=near or exact, similarity=similarity,
                )
            )  # fmt: skip
    return rows


OPINIONS = {"scrub": (3.4, 4.6), "rewrite": (4.1, 4.3), "private-rewrite": (4.8, 3.5)}
"""What the made-up judge thinks of privacy and quality."""


def laptop_evidence(folder: Path, conditions: Sequence[str] = ("none", "direct", "scrub")) -> list[Path]:
    """What steps wrote down: a training log for each trained condition; where the corpus was changed masks or a ledger,
    and what a judge and an audit said of it."""
    paths = []
    for place, condition in enumerate(conditions):
        if condition == "none":
            continue
        corpus = f"corpus-{condition}" if condition in OPINIONS else "corpus-plain"
        summary: dict[str, Any] = {"objective": "causal", "effective_batch": 16}
        if condition == "dp-8":
            summary["privacy"] = {"epsilon": 7.98, "delta": 1e-5, "sigma": 0.64, "accountant": "prv", "unit": "record"}
        losses = tuple(3.2 * math.exp(-step / 40) + 0.9 + 0.05 * place for step in range(90))
        component = "dp-train" if condition == "dp-8" else "lora-train"
        log = Evidence(schemas.TRAINING_LOG, corpus, {"adapter": f"ada{place}"}, summary, losses, component)
        paths.append(log.store(folder / f"log-{condition}"))
        if condition == "scrub":
            residual = {"recall": {"ssn": {"value": 1.0, "low": 0.99, "high": 1.0, "n": 432}}}
            masks = Evidence(schemas.MASKS, "corpus-plain", {"corpus": corpus}, residual, component="scrub")
            paths.append(masks.store(folder / "masks"))
        if "rewrite" in condition:
            counts = {"rewritten": 432, **answers(432, 90_000, 70_000, 1.25)}
            ledger = Evidence(schemas.LEDGER, "corpus-plain", {"corpus": corpus}, counts, component="vllm-rewrite")
            paths.append(ledger.store(folder / f"ledger-{condition}"))
        if condition in OPINIONS:
            paths += [judged(corpus, condition, place).store(folder / f"judgements-{condition}")]
            paths += [disclosed(corpus, condition).store(folder / f"disclosures-{condition}")]
    return paths


def answers(accepted: int, tokens_in: int, tokens_out: int, cost: float) -> dict[str, Any]:
    """What a ledger counts."""
    return {
        "quarantined": {"person-7": "refused"},
        "answers": {"accepted": accepted, "refused": 3, "truncated": 1},
        "duplicate_answers": 0,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "cost": cost,
    }


def judged(corpus: str, condition: str, place: int, *, people: int = 60) -> Evidence:
    """Two rewritten records of each person, judged by a model; every tenth source holds nothing to protect."""
    noise, means = np.random.default_rng([place, 4]), OPINIONS[condition]
    rows = []
    for number in range(2 * people):
        privacy, quality = (float(np.clip(np.round(noise.normal(mean, 0.8)), 1, 5)) for mean in means)
        reason = ("none", "rare-value", "fact-lost")[number % 3]
        person = f"person-{number // 2}"
        rows.append(
            Judgement(
                id=f"{person}/r{number % 2 + 1}", person=person, privacy=None if number % 20 == 0 else privacy,
                quality=quality, reason=reason,
            )
        )  # fmt: skip
    summary = {"model": "judge-7b", "backend": "openai", "judged": len(rows), **answers(120, 60_000, 4_000, 0.4)}
    return Evidence(schemas.JUDGEMENTS, corpus, {"corpus": corpus}, summary, component="judge", judgements=tuple(rows))


def disclosed(corpus: str, condition: str) -> Evidence:
    """What an audit of a corpus finds, by the library's own test: a defence leaves a share of the hits."""
    share = {"scrub": 0.6, "rewrite": 0.25, "private-rewrite": 0.03}[condition]
    counts = {
        "identifier": Count(train=200, train_hits=round(40 * share), held_out=100, held_out_hits=0),
        "medication": Count(train=90, train_hits=round(80 * share), held_out=40, held_out_hits=4),
        "run_of_words": Count(train=150, train_hits=round(120 * share), held_out=80, held_out_hits=2),
        "coined_name": Count(train=25, train_hits=round(25 * share), held_out=201, held_out_hits=0),
    }
    return Evidence(
        schemas.DISCLOSURES, corpus, {"corpus": corpus}, {"records": 432, **compare(counts)}, component="corpus-audit"
    )


def full(folder: Path, settings: Settings | None = None) -> Landscape:
    """A made-up audit that holds everything there is: all conditions, coins, judges, audits and costs."""
    measured = read_measurements(laptop(folder / "measured", FULL, coins=True))
    found = read_evidence(laptop_evidence(folder / "evidence", FULL))
    return aggregate(measured, found, PLAN, settings or Settings(resamples=200))


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
