"""Measures a model: canaries, held-out records and adapters in, raw scores out."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from components.evaluate.contract import Evaluate
from leakscape import artifacts, schemas
from leakscape.artifacts import Provenance
from leakscape.canaries.canary import Canary
from leakscape.errors import ContractError, InputError
from leakscape.models.load import TINY, LoadedModel, load_model
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records.record import Record
from leakscape.scoring.measure import Tally, measure, measure_exposure
from leakscape.scoring.measurements import Measurements, write
from leakscape.scoring.probes import (
    Alternative,
    Probe,
    canary_probes,
    check_canaries,
    once,
    record_probes,
    unplanted_probes,
)
from leakscape.scoring.rows import PROBES, Summary, probe_summaries

LIBRARIES = ("numpy", "peft", "safetensors", "scipy", "tokenizers", "torch", "transformers")


@dataclass(frozen=True)
class _Given:
    canaries: tuple[Canary, ...]
    names: tuple[str, ...]
    probes: frozenset[str]


def run(contract: Evaluate) -> None:
    """Score every probe that the contract names and account for every id.

    Raises:
        ContractError: a probe is unknown or none is named, or more alternatives are wanted than there are.
        InputError: the model or an adapter can't be used, there is nothing to measure, or memory is too small.
        IntegrityError: an id stands twice, or is lost on the way.
        LeakscapeError: the model gives no finite probability.
    """
    started = time.monotonic()
    given = _read(contract)
    loaded = _load(contract)
    tally = Tally()
    expected: list[tuple[str, str]] = []

    def noted(probes: Iterator[Probe]) -> Iterator[Probe]:
        for probe in probes:
            if probe.probe in given.probes:
                expected.append((probe.probe, probe.id))
                yield probe

    size = contract.batch_size
    measure(tally, loaded, noted(_of_canaries(contract, given)), batch_size=size, what="scoring canaries")
    measure(tally, loaded, noted(_of_records(contract, given)), batch_size=size, what="scoring held-out records")
    if "exposure" in given.probes:
        expected += [("exposure", canary.id) for canary in given.canaries]
        ranked = given.names[: _alternatives(contract, given)]
        measure_exposure(tally, loaded, given.canaries, ranked, batch_size=contract.candidate_batch_size)
    tally.check(expected)
    made = provenance(contract, libraries=LIBRARIES, details={"tokenizer": loaded.tokenizer_hash})
    with artifacts.create(contract.measurements, schema=schemas.MEASUREMENTS, provenance=made) as folder:
        write(folder, Measurements(_summary(contract, given, loaded, made, tally), tally.ordered()))
        folder.seconds = _seconds(started, loaded)
    say(f"{contract.condition}: {len(tally.rows)} scores, {sum(map(len, tally.unscorable.values()))} unscorable")


def _read(contract: Evaluate) -> _Given:
    unknown = [probe for probe in contract.probes if probe not in PROBES]
    if unknown or not contract.probes:
        raise ContractError(f"--probes takes a JSON list of {', '.join(PROBES)}.")
    artifact = artifacts.load(contract.canaries, schema=schemas.CANARIES)
    canaries = tuple(artifact.rows("canaries.jsonl", Canary))
    names = tuple(row.name for row in artifact.rows("alternatives.jsonl", Alternative))
    if not canaries:
        raise InputError(f"{contract.canaries} holds no canary; plant some first.")
    check_canaries(canaries, names)
    probes = set(contract.probes)
    if contract.alternatives == 0:
        probes.discard("exposure")
    given = _Given(canaries, names, frozenset(probes))
    _alternatives(contract, given)
    return given


def _alternatives(contract: Evaluate, given: _Given) -> int:
    """How many names secrets are ranked among."""
    if contract.alternatives > len(given.names):
        raise ContractError(
            f"--alternatives is {contract.alternatives}, but only {len(given.names)} names were left unplanted; "
            "lower it, or plant with more alternatives."
        )
    return len(given.names) if contract.alternatives < 0 else contract.alternatives


def _load(contract: Evaluate) -> LoadedModel:
    adapters = [artifacts.load(path, schema=schemas.ADAPTER).path for path in contract.adapters]
    return load_model(
        contract.model,
        revision=contract.revision,
        dtype=contract.dtype,
        device=contract.device,
        adapters=adapters,
        trust_remote_code=contract.trust_remote_code,
    )


def _of_canaries(contract: Evaluate, given: _Given) -> Iterator[Probe]:
    for canary in given.canaries:
        yield from canary_probes(canary)
        yield from unplanted_probes(canary, given.names, count=contract.unplanted, seed=contract.seed)


def _of_records(contract: Evaluate, given: _Given) -> Iterator[Probe]:
    if not given.probes & {"held_out", "medication"}:
        return
    population = artifacts.load(contract.held_out, schema=schemas.POPULATION)
    records = once(population.rows("records.jsonl", Record))
    for record in islice(records, contract.held_out_limit or None):
        yield from record_probes(record)


def _summary(contract: Evaluate, given: _Given, loaded: LoadedModel, made: Provenance, tally: Tally) -> Summary:
    details: dict[str, Any] = {
        "seed": contract.seed,
        "canaries": len(given.canaries),
        "alternatives": _alternatives(contract, given),
        "unplanted": min(contract.unplanted, len(given.names)),
        "frozen_date": loaded.frozen_date,
        "extrapolation_flags": dict(sorted(tally.flags.items())),
    }
    if tally.shared:
        details["shared_prefix_tokens"] = {"fewest": min(tally.shared), "most": max(tally.shared)}
    return Summary(
        target=contract.target,
        condition=contract.condition,
        model=_model_name(contract.model),
        revision=contract.revision,
        tokenizer_hash=loaded.tokenizer_hash,
        precision=loaded.dtype,
        device=loaded.device,
        chat=loaded.chat,
        adapters=tuple(made.inputs["adapters"]),
        batch_size=contract.batch_size,
        held_out_limit=contract.held_out_limit,
        probes=probe_summaries(tally.rows, tally.unscorable),
        details=details,
    )


def _model_name(model: str) -> str:
    """A model's id, or the last part of its path: where a folder lies tells a reader nothing."""
    return model if model == TINY or not Path(model).is_dir() else Path(model).resolve().name


def _seconds(started: float, loaded: LoadedModel) -> dict[str, float]:
    wall = round(time.monotonic() - started, 3)
    return {"wall": wall} if loaded.device == "cpu" else {"wall": wall, "accelerator": wall}
