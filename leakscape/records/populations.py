"""Train, held-out and exemplar populations from each kind of source.

The exemplars are shown to a rewriter. They come from a fresh seed, never from the people who are to be protected: for
the built-in generator and for Synthea from another stream or run, for data from outside from the built-in generator.
"""

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leakscape.errors import InputError
from leakscape.progress import say
from leakscape.records import builtin, fhir, jsonl, outside, split, synthea_csv, synthea_jar
from leakscape.records.record import Record
from leakscape.records.synthea import Choices, Person, Reading
from leakscape.records.values import is_date

# About 60 in 100 of Synthea's living patients have a current medication; see docs/records.md.
_LIVING_PER_RECORD = 3
_READERS = {"synthea-csv": synthea_csv.read, "fhir-r4": fhir.read, "jsonl": jsonl.read}
_SEED_BITS = 31
_DAYS_LATE = 31


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How many records each population gets.

    Args:
        train: 0 takes all that held-out leaves.
        held_out: 0 takes `held_out_share` of the population.
        held_out_share: between 0 and 1.
        exemplars: may be 0.
    """

    train: int
    held_out: int
    held_out_share: float
    exemplars: int


@dataclass(frozen=True, kw_only=True)
class Populations:
    """Three populations and, in `details`, the counts, seeds and versions behind them; never a value of a record."""

    train: Iterable[Record]
    held_out: Iterable[Record]
    exemplars: Iterable[Record]
    details: Mapping[str, Any]


def from_builtin(sizes: Sizes, *, seed: int, reference_date: dt.date) -> Populations:
    """Draw from the built-in generator; ages count from `reference_date`.

    Raises:
        InputError: a size is 0, though the generator has no end.
    """
    if not (sizes.train and sizes.held_out):
        raise InputError("The built-in generator never runs out: give a train and a held-out count above 0.")
    return Populations(
        train=builtin.generate(sizes.train, seed=seed, stream="train", reference_date=reference_date),
        held_out=builtin.generate(sizes.held_out, seed=seed, stream="held-out", reference_date=reference_date),
        exemplars=builtin.generate(sizes.exemplars, seed=seed, stream="exemplars", reference_date=reference_date),
        details={"seeds": {"seed": seed}, "reference_date": reference_date.isoformat(), "exemplars_from": "built-in"},
    )


def from_files(
    kind: str,
    path: Path,
    choices: Choices,
    sizes: Sizes,
    *,
    seed: int,
    reference_date: dt.date,
    content_hash: str = "",
) -> Populations:
    """Read a population from outside and split it; the exemplars come from the built-in generator.

    Args:
        kind: `synthea-csv`, `fhir-r4` or `jsonl`.
        path: the folder; for `jsonl` it may be a file.
        choices: whom and what to keep.
        sizes: of the three populations.
        seed: of the split and of the exemplars.
        reference_date: from which the exemplars' ages count; the data keep their own dates.
        content_hash: what the data must hash to; '' pins nothing.

    Raises:
        InputError: the data are missing, have changed, or hold too few people.
        RecordError: a file can't be read.
    """
    found = outside.verify(path, content_hash)
    reading = _READERS[kind](path, choices)
    sides, details = _sides(reading, sizes, seed=seed)
    return Populations(
        train=sides.train,
        held_out=sides.held_out,
        exemplars=builtin.generate(sizes.exemplars, seed=seed, stream="exemplars", reference_date=reference_date),
        details={
            **details,
            "content_hash": found,
            "seeds": {"seed": seed},
            "exemplars_from": "built-in",
            "exemplars_reference_date": reference_date.isoformat(),
        },
    )


def from_jar(
    run: synthea_jar.Run, choices: Choices, sizes: Sizes, *, scratch: Path, content_hash: str = ""
) -> Populations:
    """Run Synthea twice, the second time with fresh seeds for the exemplars.

    Args:
        run: the first run.
        choices: whom and what to keep.
        sizes: of the three populations.
        scratch: an empty folder for Synthea's output.
        content_hash: the SHA-256 that the jar must have; '' pins nothing.

    Raises:
        DependencyError: no java.
        InputError: the jar has changed or failed, or too few people came out.
    """
    outside.verify(run.jar, content_hash)
    version = synthea_jar.version(run.jar)
    reading = synthea_csv.read(synthea_jar.generate(run, scratch / "population"), choices)
    sides, details = _sides(reading, sizes, seed=run.seed)
    fresh = replace(
        run,
        seed=_fresh(run.seed, "seed"),
        clinician_seed=_fresh(run.clinician_seed, "clinician"),
        population=max(20, sizes.exemplars * _LIVING_PER_RECORD),
    )
    exemplars, exemplar_counts = _exemplars(fresh, choices, sizes.exemplars, scratch / "exemplars")
    _compare_dates(run.reference_date, reading.latest_start)
    return Populations(
        train=sides.train,
        held_out=sides.held_out,
        exemplars=exemplars,
        details={
            **details,
            "synthea": version,
            "flags": synthea_jar.flags(run, Path("OUTPUT")),
            "seeds": {"seed": run.seed, "clinician_seed": run.clinician_seed},
            "exemplars_from": "Synthea, fresh seeds",
            "exemplar_seeds": {"seed": fresh.seed, "clinician_seed": fresh.clinician_seed},
            "exemplar_counts": exemplar_counts,
            "reference_date": run.reference_date.isoformat(),
            "latest_start": reading.latest_start,
        },
    )


def living(sizes: Sizes) -> int:
    """How many living patients Synthea must make so that the sizes can be met: three for each record.

    Raises:
        InputError: a size is 0, so that nothing says how many.
    """
    if not (sizes.train and sizes.held_out):
        raise InputError("Synthea makes as many as it is told to: give --population, or both counts above 0.")
    return _LIVING_PER_RECORD * (sizes.train + sizes.held_out)


def _sides(reading: Reading, sizes: Sizes, *, seed: int) -> tuple[split.Split, dict[str, Any]]:
    # Said before the split, so that whoever reads that too few people are usable sees what became of the others.
    for name, count in sorted(reading.counts.items()):
        if count:
            say(f"source: {name.replace('_', ' ')}: {count}")
    sides = split.split(
        reading.people,
        train_count=sizes.train,
        held_out_count=sizes.held_out,
        held_out_share=sizes.held_out_share,
        seed=seed,
    )
    details = {
        "counts": dict(sorted(reading.counts.items())),
        "split": {
            "train": len(sides.train),
            "held_out": len(sides.held_out),
            "unused": sides.unused,
            "groups": sides.groups,
            "people_in_groups": sides.grouped,
        },
    }
    return sides, details


def _exemplars(run: synthea_jar.Run, choices: Choices, count: int, output: Path) -> tuple[list[Record], dict[str, int]]:
    if not count:
        return [], {}
    reading = synthea_csv.read(synthea_jar.generate(run, output), choices, prefix="exemplar")
    people: list[Person] = split.take(split.shuffled(split.groups(reading.people), seed=run.seed), count)[0]
    if len(people) < count:
        raise InputError(f"Synthea gave {len(people)} exemplars with a medication, but {count} are asked for.")
    return sorted((person.record for person in people), key=lambda record: record.id), dict(reading.counts)


def _fresh(seed: int, purpose: str) -> int:
    """A seed that no plan is likely to use, from another one."""
    digest = hashlib.sha256(f"exemplars/{purpose}/{seed}".encode()).digest()
    return int.from_bytes(digest, "big") >> (8 * len(digest) - _SEED_BITS)


def _compare_dates(asked: dt.date, latest_start: str) -> None:
    """Say so when the output ends elsewhere than it was told to.

    Some versions of Synthea misread -r: 20260615 becomes 2025-12-28. The manifest holds both dates.
    """
    shown = dt.date.fromisoformat(latest_start) if is_date(latest_start) else dt.date.min
    if not 0 <= (asked - shown).days <= _DAYS_LATE:
        say(f"synthea: asked for {asked}, but the last condition or medication began on {latest_start or 'no day'}")
