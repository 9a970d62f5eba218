"""Reads a corpus, trains an adapter with differential privacy, writes it and the privacy spent."""

import time
from functools import partial
from typing import Any, cast

from components.dp_train.contract import DpTrain
from leakscape import artifacts, schemas
from leakscape.canaries.canary import Canary
from leakscape.models.adapters import save_adapter
from leakscape.models.load import LoadedModel, load_model
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord
from leakscape.settings import settings_of
from leakscape.training.accounting import Budget, Schedule, calibrate, schedule
from leakscape.training.checkpoint import Checkpoints, checkpoints
from leakscape.training.dataset import Dataset, fingerprint, tokenise_corpus
from leakscape.training.dp import DpSettings, NoiseFrom, train_private
from leakscape.training.dp_lots import UnitKind, units_of
from leakscape.training.dp_statement import cautions, statement
from leakscape.training.log import run_facts, write_run
from leakscape.training.loop import enable_gradient_checkpointing
from leakscape.training.lora import EXPERT_PARAMETERS, LoraSettings, add_lora, trainable

LIBRARIES = ("accelerate", "opacus", "peft", "safetensors", "tokenizers", "torch", "transformers")


def run(contract: DpTrain) -> None:
    """Train as the contract says.

    Raises:
        InputError: the model can't be loaded, the budget or lot makes no sense, a secret would be cut off, or
            training diverged.
        IntegrityError: the adapter did not train, or the steps taken are not those accounted.
        TransientError: the model hub could not be reached.
    """
    loaded = load_model(
        contract.model,
        revision=contract.revision,
        dtype=contract.precision,
        device=contract.device,
        trust_remote_code=contract.trust_remote_code,
    )
    dataset, kind = _read(contract, loaded), cast("UnitKind", contract.unit)
    units = units_of(dataset.examples, kind)
    plan = schedule(units=len(units), lot=contract.lot, epochs=contract.epochs)
    budget = None if contract.control else calibrate(epsilon=contract.epsilon, delta=contract.delta, plan=plan)
    doubts = cautions(plan, dataset.examples, unit=kind, budget=budget)
    lora, settings = _settings(contract, budget)
    model = add_lora(loaded.model, lora)
    if contract.gradient_checkpointing:
        enable_gradient_checkpointing(model, reentrant=True)
    started = time.monotonic()
    kept = _checkpoints(contract, (lora, settings, plan, kind), loaded, dataset)
    done = train_private(model, units, settings, plan, pad_id=loaded.tokenizer.pad_token_id, checkpoints=kept)
    seconds = time.monotonic() - started
    drawn = cast("NoiseFrom", contract.noise_from)
    privacy = statement(plan, unit=kind, lot=contract.lot, clip=contract.clip, budget=budget, noise_from=drawn)
    details = {"tokenizer_hash": loaded.tokenizer_hash, "privacy": privacy}
    facts = {**_summary(contract, loaded, dataset), **_adapted(model), "privacy": privacy, "cautions": doubts}
    write_run(
        contract.adapter,
        contract.log,
        made=provenance(contract, libraries=LIBRARIES, details=details),
        save=partial(save_adapter, model, base=contract.model),
        steps=done.steps,
        summary={**facts, "lot_sizes": done.lots},
        seconds=seconds,
    )
    for line in doubts:
        say(line)
    say(_spent(plan, budget, kind))


def _read(contract: DpTrain, loaded: LoadedModel) -> Dataset:
    corpus = artifacts.load(contract.corpus, schema=schemas.CORPUS)
    canaries = artifacts.load(contract.canaries, schema=schemas.CANARIES)
    return tokenise_corpus(
        loaded,
        corpus.rows("records.jsonl", CorpusRecord),
        max_tokens=contract.max_tokens,
        canaries=canaries.rows("canaries.jsonl", Canary),
    )


def _settings(contract: DpTrain, budget: Budget | None) -> tuple[LoraSettings, DpSettings]:
    sigma = budget.sigma if budget else 0.0
    return settings_of(contract, LoraSettings, experts=False), settings_of(contract, DpSettings, sigma=sigma)


def _checkpoints(
    contract: DpTrain, decided: tuple[object, ...], loaded: LoadedModel, dataset: Dataset
) -> Checkpoints | None:
    base = (contract.model, contract.revision, loaded.tokenizer_hash, loaded.dtype, loaded.device)
    persons = [example.person for example in dataset.examples]
    everything = (base, decided, fingerprint(dataset), persons)
    return checkpoints(contract.checkpoint_dir, every=contract.checkpoint_every, decided=everything)


def _adapted(model: Any) -> dict[str, Any]:  # noqa: ANN401  # a PEFT model
    """Which modules carry the adapter, and which the objective without privacy would adapt besides."""
    weights = trainable(model)
    names = {name.partition(".lora_")[0].rpartition(".")[2] for name in weights}
    return {
        "adapted": sorted(names),
        "left_out": list(EXPERT_PARAMETERS.get(model.config.model_type, ())),
        "trainable_parameters": sum(weight.numel() for weight in weights.values()),
    }


def _summary(contract: DpTrain, loaded: LoadedModel, dataset: Dataset) -> dict[str, Any]:
    facts = run_facts(loaded, dataset) | {"objective": "dp-sgd", "epochs": contract.epochs}
    return facts | {"deterministic": facts["deterministic"] and contract.noise_from == "seed"}


def _spent(plan: Schedule, budget: Budget | None, unit: UnitKind) -> str:
    if budget is None:
        return f"{plan.steps} steps without noise: a control, which gives no privacy"
    return (
        f"{plan.steps} steps at sigma {budget.sigma:.3f}: epsilon {budget.epsilon:.2f} at delta {budget.delta:g} "
        f"for a {unit}, by {budget.accountant.upper()}"
    )
