"""Reads a corpus, trains an adapter, writes it and its log."""

import time
from dataclasses import replace
from functools import partial
from typing import Any

from components.lora_train.contract import LoraTrain
from leakscape import artifacts, schemas
from leakscape.canaries.canary import Canary
from leakscape.models.adapters import save_adapter
from leakscape.models.load import LoadedModel, choose_dtype, load_model
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord
from leakscape.settings import settings_of
from leakscape.training.checkpoint import Checkpoints, checkpoints
from leakscape.training.dataset import Dataset, fingerprint, tokenise_corpus, with_goldfish
from leakscape.training.log import run_facts, write_run
from leakscape.training.loop import LoopSettings, enable_gradient_checkpointing, train
from leakscape.training.lora import LoraSettings, add_lora, trainable
from leakscape.training.processes import how_many, train_together
from leakscape.training.sharding import shard_base
from leakscape.training.world import ALONE, World, device_of, joined, placed

LIBRARIES = ("accelerate", "peft", "safetensors", "tokenizers", "torch", "transformers")


def run(contract: LoraTrain) -> None:
    """Train as the contract says, here or in several processes of this machine.

    Raises:
        ContractError: a device is named that several processes can't share.
        InputError: the model can't be loaded, a secret would be cut off, or training diverged.
        IntegrityError: the adapter did not train.
        RankError: one of several processes failed; the exit code is its own.
        TransientError: the model hub could not be reached.
    """
    world = placed()
    if world is None and (size := how_many(contract.processes, contract.device)) > 1:
        device_of(contract.device, World(size=size))
        train_together(contract, size)
    else:
        run_here(contract, world or ALONE)


def run_here(contract: LoraTrain, world: World) -> None:
    """Be one of the processes that train, or the only one."""
    device = device_of(contract.device, world)
    sharded = world.size > 1 and contract.sharding == "fsdp"
    loaded = load_model(
        contract.model,
        revision=contract.revision,
        dtype=str(choose_dtype(contract.precision, device)).removeprefix("torch.") if sharded else contract.precision,
        device="cpu" if sharded else device,
        trust_remote_code=contract.trust_remote_code,
    )
    dataset = read_dataset(contract, loaded)
    lora, loop = settings(contract, world)
    model = add_lora(loaded.model, lora)
    if contract.gradient_checkpointing:
        enable_gradient_checkpointing(model)
    started = time.monotonic()
    with joined(world, device):
        if sharded:
            shard_base(model, world, device)
            loaded = replace(loaded, device=device)
        kept = _checkpoints(contract, loaded, dataset, world)
        pad_id = loaded.tokenizer.pad_token_id
        steps = train(model, dataset.examples, loop, pad_id=pad_id, checkpoints=kept, world=world)
    if not world.writes:
        return
    trained = sum(weight.numel() for weight in trainable(model).values())
    facts = run_facts(loaded, dataset, world_size=world.size, sharding=contract.sharding if sharded else "none")
    write_run(
        contract.adapter,
        contract.log,
        made=provenance(contract, libraries=LIBRARIES, details={"tokenizer_hash": loaded.tokenizer_hash}),
        save=partial(save_adapter, model, base=contract.model),
        steps=steps,
        summary={**facts, **_summary(contract, dataset, loop), "trainable_parameters": trained},
        seconds=time.monotonic() - started,
    )
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


def settings(contract: LoraTrain, world: World) -> tuple[LoraSettings, LoopSettings]:
    """The library's settings that the contract's parameters stand for."""
    return (
        settings_of(contract, LoraSettings, experts=True),
        settings_of(contract, LoopSettings, world_size=world.size),
    )


def _checkpoints(contract: LoraTrain, loaded: LoadedModel, dataset: Dataset, world: World) -> Checkpoints | None:
    base = (contract.model, contract.revision, loaded.tokenizer_hash, loaded.dtype, loaded.device.partition(":")[0])
    decided = (base, *settings(contract, ALONE), fingerprint(dataset))
    every = contract.checkpoint_every
    return checkpoints(contract.checkpoint_dir, every=every, decided=decided, world_size=world.size)


def _summary(contract: LoraTrain, dataset: Dataset, loop: LoopSettings) -> dict[str, Any]:
    return {
        "objective": contract.objective,
        "drop_share": dataset.drop_share,
        "effective_batch": loop.effective_batch,
        "epochs": loop.epochs,
    }
