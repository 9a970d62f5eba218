"""Measures a model: canaries, held-out records and adapters in, raw scores out."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.evaluate.contract import Evaluate
from leakscape import artifacts, schemas
from leakscape.canaries.canary import Canary
from leakscape.models.load import TINY, LoadedModel, load_model
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records.record import Record
from leakscape.scoring.condition import Planted, Request, check_request, details, measure_condition
from leakscape.scoring.measurements import Measurements, write
from leakscape.scoring.probes import Alternative
from leakscape.scoring.rows import Summary, probe_summaries

LIBRARIES = ("numpy", "peft", "pyarrow", "safetensors", "scipy", "tokenizers", "torch", "transformers")


def run(contract: Evaluate) -> None:
    """Score every probe that the contract names and account for every id.

    Raises:
        ContractError: a probe is unknown or none is named, or more alternatives are wanted than there are.
        InputError: the model or an adapter can't be used, there is nothing to measure, or memory is too small.
        IntegrityError: an id stands twice, or is lost on the way.
        LeakscapeError: the model gives no finite probability.
    """
    started = time.monotonic()
    planted, request = _planted(contract.canaries), _request(contract)
    check_request(request, planted)
    loaded = _load(contract)
    tally = measure_condition(loaded, planted, _records(contract.held_out), request)
    made = provenance(contract, libraries=LIBRARIES, details={"tokenizer_hash": loaded.tokenizer_hash})
    summary = Summary(
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
        details=details(request, planted, loaded, tally),
    )
    with artifacts.create(contract.measurements, schema=schemas.MEASUREMENTS, provenance=made) as folder:
        write(folder, Measurements(summary, tally.ordered()))
        folder.seconds = _seconds(time.monotonic() - started, loaded)
    unscorable = sum(len(several) for several in tally.unscorable.values())
    say(f"{contract.condition}: {len(tally.rows)} scores, {unscorable} texts unscorable")


def _planted(path: Path) -> Planted:
    artifact = artifacts.load(path, schema=schemas.CANARIES)
    names = (row.name for row in artifact.rows("alternatives.jsonl", Alternative))
    return Planted(tuple(artifact.rows("canaries.jsonl", Canary)), tuple(names))


def _records(path: Path) -> Iterator[Record]:
    yield from artifacts.load(path, schema=schemas.POPULATION).rows("records.jsonl", Record)


def _request(contract: Evaluate) -> Request:
    names = Request.__dataclass_fields__
    settings: dict[str, Any] = {name: getattr(contract, name) for name in names}
    return Request(**settings)


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
