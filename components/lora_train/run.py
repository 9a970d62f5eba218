"""Reads a corpus, trains an adapter, writes it and its log."""

import time
from typing import Any

from components.lora_train.contract import LoraTrain
from leakscape import artifacts, schemas
from leakscape.canaries.canary import Canary
from leakscape.models.adapters import save_adapter
from leakscape.models.load import LoadedModel, load_model
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord
from leakscape.settings import settings_of
from leakscape.training.checkpoint import Checkpoints, checkpoints
from leakscape.training.dataset import Dataset, fingerprint, tokenise_corpus, with_goldfish
from leakscape.training.log import run_facts, write_log
from leakscape.training.loop import LoopSettings, enable_gradient_checkpointing, train
from leakscape.training.lora import LoraSettings, add_lora, trainable

LIBRARIES = ("accelerate", "peft", "safetensors", "tokenizers", "torch", "transformers")


def run(contract: LoraTrain) -> None:
    """Train as the contract says.

    Raises:
        InputError: the model can't be loaded, a secret would be cut off, or training diverged.
        IntegrityError: the adapter did not train.
        TransientError: the model hub could not be reached.
    """
    loaded = load_model(
        contract.model,
        revision=contract.revision,
        dtype=contract.precision,
        device=contract.device,
        trust_remote_code=contract.trust_remote_code,
    )
    dataset = read_dataset(contract, loaded)
    lora, loop = settings(contract)
    model = add_lora(loaded.model, lora)
    if contract.gradient_checkpointing:
        enable_gradient_checkpointing(model)
    started = time.monotonic()
    pad_id = loaded.tokenizer.pad_token_id
    steps = train(model, dataset.examples, loop, pad_id=pad_id, checkpoints=_checkpoints(contract, loaded, dataset))
    seconds = time.monotonic() - started
    made = provenance(contract, libraries=LIBRARIES, details={"tokenizer_hash": loaded.tokenizer_hash})
    with artifacts.create(contract.adapter, schema=schemas.ADAPTER, provenance=made) as folder:
        save_adapter(model, folder.path, base=contract.model)
        folder.seconds["wall"] = seconds
    with artifacts.create(contract.log, schema=schemas.TRAINING_LOG, provenance=made) as folder:
        folder.details["adapter"] = artifacts.read_manifest(contract.adapter).digest
        folder.seconds["wall"] = seconds
        trained = sum(weight.numel() for weight in trainable(model).values())
        write_log(folder, steps, {**_summary(contract, loaded, dataset, loop), "trainable_parameters": trained})
    say(f"{len(dataset.examples)} records, {len(steps)} steps, {dataset.truncated} records cut at the length limit")


def read_dataset(contract: LoraTrain, loaded: LoadedModel) -> Dataset:
    """The corpus as examples of the contract's objective."""
    corpus = artifacts.load(contract.corpus, schema=schemas.CORPUS)
    canaries = artifacts.load(contract.canaries, schema=schemas.CANARIES)
    dataset = tokenise_corpus(
        loaded,
        corpus.rows("records.jsonl", CorpusRecord),
        max_tokens=contract.max_tokens,
        canaries=canaries.rows("canaries.jsonl", Canary),
    )
    if contract.objective == "causal":
        return dataset
    return with_goldfish(dataset, k=contract.goldfish_k, width=contract.goldfish_width, method=contract.goldfish_hash)


def settings(contract: LoraTrain) -> tuple[LoraSettings, LoopSettings]:
    """The library's settings that the contract's parameters stand for."""
    return settings_of(contract, LoraSettings, experts=True), settings_of(contract, LoopSettings)


def _checkpoints(contract: LoraTrain, loaded: LoadedModel, dataset: Dataset) -> Checkpoints | None:
    base = (contract.model, contract.revision, loaded.tokenizer_hash, loaded.dtype, loaded.device)
    decided = (base, *settings(contract), fingerprint(dataset))
    return checkpoints(contract.checkpoint_dir, every=contract.checkpoint_every, decided=decided)


def _summary(contract: LoraTrain, loaded: LoadedModel, dataset: Dataset, loop: LoopSettings) -> dict[str, Any]:
    return run_facts(loaded, dataset) | {
        "objective": contract.objective,
        "drop_share": dataset.drop_share,
        "effective_batch": loop.effective_batch,
        "epochs": loop.epochs,
    }
