"""Measures and attacks a model: canaries, held-out and original records and adapters in, raw scores out."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from components.evaluate.contract import Evaluate
from leakscape import artifacts, schemas
from leakscape.canaries.canary import Canary
from leakscape.models.load import TINY, LoadedModel, load_model
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord, Record
from leakscape.scoring.adversary import Adversary, attack_model, check_adversary
from leakscape.scoring.attack_rows import write_attacks, write_extractions
from leakscape.scoring.condition import Planted, Request, check_request, details, measure_condition, prompt_hash
from leakscape.scoring.harness import run_tasks
from leakscape.scoring.harness_tasks import BenchmarkRequest, opened, task_hashes
from leakscape.scoring.measurements import Measurements, write
from leakscape.scoring.probes import Alternative
from leakscape.scoring.rows import Summary, probe_summaries
from leakscape.settings import settings_of
from leakscape.statistics.membership import classification_metrics
from leakscape.typed_json import dump_json

LIBRARIES = ("numpy", "peft", "pyarrow", "safetensors", "scipy", "tokenizers", "torch", "transformers")
HARNESS = ("datasets", "lm-eval")


def run(contract: Evaluate) -> None:
    """Score every probe that the contract names and account for every id.

    Raises:
        ContractError: a probe or an attack is unknown, no probe is named, or more alternatives are wanted than there
            are.
        InputError: the model, an adapter or a benchmark can't be used, there is nothing to measure, or memory is too
            small.
        IntegrityError: an id stands twice or is lost on the way, or the original corpus does not hold the canaries.
        LeakscapeError: the model gives no finite probability.
        TransientError: the hub, with the model or with a benchmark's data, could not be reached.
    """
    started = time.monotonic()
    planted, request = _planted(contract.canaries), settings_of(contract, Request)
    tried, wanted = settings_of(contract, Adversary), settings_of(contract, BenchmarkRequest)
    check_request(request, planted)
    check_adversary(tried)
    with opened(wanted) as tasks:
        loaded = _load(contract)
        tally = measure_condition(loaded, planted, _records(contract.held_out), request)
        loot = attack_model(loaded, planted.canaries, _corpus(contract.original), _records(contract.held_out), tried)
        benchmarks = {name: asdict(found) for name, found in run_tasks(loaded, tasks, wanted).items()}
    made = provenance(
        contract,
        libraries=(*LIBRARIES, *(HARNESS if tasks else ())),
        details={"tokenizer_hash": loaded.tokenizer_hash, **({"harness": task_hashes(wanted)} if tasks else {})},
    )
    summary = Summary(
        target=contract.target,
        condition=contract.condition,
        model=_model_name(contract.model),
        revision=contract.revision,
        tokenizer_hash=loaded.tokenizer_hash,
        precision=loaded.dtype,
        device=loaded.device,
        chat=loaded.chat,
        prompt_hash=prompt_hash(loaded),
        adapters=tuple(made.inputs["adapters"]),
        batch_size=contract.batch_size,
        held_out_limit=contract.held_out_limit,
        probes=probe_summaries(tally.rows, tally.unscorable),
        details={**details(request, planted, loaded, tally), **loot.details, "harness": benchmarks},
    )
    with artifacts.create(contract.measurements, schema=schemas.MEASUREMENTS, provenance=made) as folder:
        write(folder, Measurements(summary, tally.ordered()))
        if loot.attacks:
            write_attacks(folder, loot.attacks)
        if loot.extractions:
            write_extractions(folder, loot.extractions)
        folder.seconds = _seconds(time.monotonic() - started, loaded)
    artifacts.write_file(contract.roc, dump_json(classification_metrics(loot.attacks)) + "\n")
    unscorable = sum(len(several) for several in tally.unscorable.values())
    say(f"{contract.condition}: {len(tally.rows)} scores, {unscorable} texts unscorable")


def _planted(path: Path) -> Planted:
    artifact = artifacts.load(path, schema=schemas.CANARIES)
    names = (row.name for row in artifact.rows("alternatives.jsonl", Alternative))
    return Planted(tuple(artifact.rows("canaries.jsonl", Canary)), tuple(names))


def _records(path: Path) -> Iterator[Record]:
    yield from artifacts.load(path, schema=schemas.POPULATION).rows("records.jsonl", Record)


def _corpus(path: Path) -> Iterator[CorpusRecord]:
    yield from artifacts.load(path, schema=schemas.CORPUS).rows("records.jsonl", CorpusRecord)


def _load(contract: Evaluate) -> LoadedModel:
    return load_model(
        contract.model,
        revision=contract.revision,
        dtype=contract.precision,
        device=contract.device,
        adapters=[artifacts.load(path, schema=schemas.ADAPTER).path for path in contract.adapters],
        trust_remote_code=contract.trust_remote_code,
    )


def _model_name(model: str) -> str:
    """A model's id, or the last part of its path: where a folder lies tells a reader nothing."""
    return model if model == TINY or not Path(model).is_dir() else Path(model).resolve().name


def _seconds(wall: float, loaded: LoadedModel) -> dict[str, float]:
    wall = round(wall, 3)
    return {"wall": wall} if loaded.device == "cpu" else {"wall": wall, "accelerator": wall}
