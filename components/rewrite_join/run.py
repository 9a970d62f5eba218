"""Joins the parts of a rewriting."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from components.rewrite_join.contract import RewriteJoin
from leakscape import artifacts, schemas
from leakscape.artifacts import Artifact, Provenance
from leakscape.errors import ArtifactError, IntegrityError
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord
from leakscape.rewriting import outcome, shards
from leakscape.rewriting.corpus import copy_id
from leakscape.rewriting.job import Result
from leakscape.rewriting.ledger import Entry

_REMEDY = "raise --max-output-tokens or --attempts of the rewriting, or choose another model."
_OF_A_PART = ("shard",)
_SHARED = ("prompt_sha256", "strategy", "model", "effort")


def run(contract: RewriteJoin) -> None:
    """Join as the contract says.

    Raises:
        ArtifactError: the parts do not belong together, or one is missing.
        IntegrityError: a record was lost, doubled or moved.
        InputError: too many records had to be quarantined.
    """
    corpus = artifacts.load(contract.corpus, schema=schemas.CORPUS)
    parts = [artifacts.load(path, schema=schemas.CORPUS) for path in contract.parts]
    ledgers = [artifacts.load(path, schema=schemas.LEDGER) for path in contract.ledgers]
    _check_together(contract, corpus, parts, ledgers)
    whole = shards.join([_result(part, ledger) for part, ledger in zip(parts, ledgers, strict=True)])
    wanted = _check_ids(contract, corpus, parts, whole)
    outcome.check_quarantine(whole, wanted, most=contract.max_quarantined, what="rewrites", remedy=_REMEDY)
    made = _provenance(contract, parts[0])
    made_here = {contract.rewritten: schemas.CORPUS, contract.ledger: schemas.LEDGER}
    with artifacts.create_all(made_here, provenance=made) as (folder, ledger):
        folder.details = dict(parts[0].manifest.details)
        folder.write_rows("records.jsonl", (record for part in parts for record in _records(part)))
        told = {name: ledgers[0].manifest.details[name] for name in _SHARED}
        told |= outcome.summary(whole, corpus=folder.finish().digest)
        seconds = sum(part.manifest.seconds.get("calls", 0.0) for part in ledgers)
        outcome.write_ledger(ledger, whole, told, seconds=seconds)


def _check_together(contract: RewriteJoin, corpus: Artifact, parts: list[Artifact], ledgers: list[Artifact]) -> None:
    """Every part once, in order, of this corpus, made alike, each with its own ledger."""
    if not len(parts) == len(ledgers) == contract.shards:
        raise ArtifactError(
            f"{contract.shards} parts and as many ledgers are wanted, not {len(parts)} and {len(ledgers)}; "
            "give every part once."
        )
    for number, (part, ledger) in enumerate(zip(parts, ledgers, strict=True), start=1):
        settings = part.manifest.arguments
        if (settings.get("shard"), settings.get("shards")) != (number, contract.shards):
            raise ArtifactError(f"{part.path} is not part {number} of {contract.shards}; give the parts in order.")
        if part.manifest.inputs.get("corpus") != corpus.manifest.digest:
            raise ArtifactError(f"{part.path} was not made from {corpus.path}; give the corpus that was rewritten.")
        if _settings(part) != _settings(parts[0]):
            raise ArtifactError(f"{part.path} was made with other settings than {parts[0].path}; make both alike.")
        if ledger.manifest.details.get("corpus") != part.manifest.digest:
            raise ArtifactError(f"{ledger.path} is not the ledger of {part.path}; give the ledgers in order.")


def _settings(part: Artifact) -> dict[str, Any]:
    made = {name: value for name, value in part.manifest.arguments.items() if name not in _OF_A_PART}
    return {"arguments": made, "details": part.manifest.details, "versions": part.manifest.versions}


def _result(part: Artifact, ledger: Artifact) -> Result:
    """The part as its job gave it, texts and seconds left aside."""
    rows = ledger.rows("ledger.jsonl", dict[str, Any])
    summary = ledger.json("summary.json")
    return Result(
        texts={record.id: "" for record in _records(part)},
        quarantined=summary["quarantined"],
        entries=[Entry(**row, text="", seconds=0.0) for row in rows],
        duplicates=summary["duplicate_answers"],
    )


def _check_ids(contract: RewriteJoin, corpus: Artifact, parts: list[Artifact], whole: Result) -> int:
    """Ids in are ids out, in their order; gives how many there are."""
    wanted = [
        copy_id(record.id, copy, copies=contract.copies)
        for record in _records(corpus)
        for copy in range(1, contract.copies + 1)
    ]
    came = [record.id for part in parts for record in _records(part)]
    if came != [name for name in wanted if name not in whole.quarantined] or whole.quarantined.keys() - set(wanted):
        raise IntegrityError(f"{len(wanted)} rewrites were wanted, but the parts hold other ids, or in another order.")
    return len(wanted)


def _provenance(contract: RewriteJoin, part: Artifact) -> Provenance:
    made = provenance(contract)
    settings = _settings(part)["arguments"]
    return replace(made, versions={**part.manifest.versions, **made.versions}, details={"rewriting": settings})


def _records(corpus: Artifact) -> Iterator[CorpusRecord]:
    return corpus.rows("records.jsonl", CorpusRecord)
