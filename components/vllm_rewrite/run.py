"""Rewrites a corpus."""

from collections.abc import Iterator

from components.vllm_rewrite.backends import backend
from components.vllm_rewrite.contract import VllmRewrite
from leakscape import artifacts, schemas
from leakscape.artifacts import Provenance
from leakscape.errors import InputError
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord, Record, render
from leakscape.rewriting import outcome, prompts, shards
from leakscape.rewriting.choose import libraries
from leakscape.rewriting.corpus import rewritten, sources
from leakscape.rewriting.job import Job, Result, Settings
from leakscape.rewriting.ledger import open_ledger
from leakscape.settings import settings_of

REMEDY = "raise --max-output-tokens or --attempts, or choose another model."


def run(contract: VllmRewrite) -> None:
    """Rewrite every record; fail if too many had to be quarantined."""
    corpus = artifacts.load(contract.corpus, schema=schemas.CORPUS)
    exemplars = artifacts.load(contract.exemplars, schema=schemas.POPULATION)
    texts = _exemplar_texts(corpus, exemplars)
    made = _provenance(contract)
    inputs = [corpus.manifest.digest, exemplars.manifest.digest, prompts.digest(contract.strategy)]
    ledger = open_ledger(contract.ledger_dir, outcome.job_digest(contract, inputs))
    try:
        rewriter = backend(contract, lambda: _records(corpus))
        settings = settings_of(contract, Settings, max_cost=contract.max_cost / contract.shards)
        wanted = list(sources(_part(contract, corpus), copies=contract.copies))
        stages = prompts.stages(contract.strategy, texts)
        result = Job(backend=rewriter, ledger=ledger, stages=stages, settings=settings).run(wanted)
    finally:
        ledger.close()
    if contract.shards == 1:  # the parts together are checked where they are joined
        outcome.check_quarantine(result, len(wanted), most=contract.max_quarantined, what="rewrites", remedy=REMEDY)
    _write(contract, corpus, result, made, model=rewriter.model)


def _provenance(contract: VllmRewrite) -> Provenance:
    details = {"prompt_sha256": prompts.digest(contract.strategy), "strategy": contract.strategy}
    return provenance(contract, libraries=libraries(contract.backend), details=details)


def _write(contract: VllmRewrite, corpus: artifacts.Artifact, result: Result, made: Provenance, *, model: str) -> None:
    wanted = {contract.rewritten: schemas.CORPUS, contract.ledger: schemas.LEDGER}
    with artifacts.create_all(wanted, provenance=made) as (folder, ledger):
        folder.details["model"] = model
        folder.write_rows("records.jsonl", rewritten(_part(contract, corpus), result, copies=contract.copies))
        summary = {
            **made.details,
            "model": model,
            "effort": contract.effort,
            **outcome.summary(result, corpus=folder.finish().digest),
        }
        outcome.write_ledger(ledger, result, summary, seconds=sum(entry.seconds for entry in result.entries))


def _exemplar_texts(corpus: artifacts.Artifact, exemplars: artifacts.Artifact) -> list[str]:
    """The exemplars' texts, none of them a person of the corpus."""
    records = list(exemplars.rows("records.jsonl", Record))
    people = {_identity(record) for record in records}
    if any(_identity(record.fields) in people for record in _records(corpus)):
        raise InputError("an exemplar is a person of the corpus; exemplars must come from a fresh seed.")
    return [render(record)[0] for record in records]


def _identity(record: Record) -> tuple[str, str, str]:
    return record.name, record.birth_date, record.ssn


def _records(corpus: artifacts.Artifact) -> Iterator[CorpusRecord]:
    return corpus.rows("records.jsonl", CorpusRecord)


def _part(contract: VllmRewrite, corpus: artifacts.Artifact) -> Iterator[CorpusRecord]:
    count = corpus.count("records.jsonl")
    return shards.part(_records(corpus), count, shard=contract.shard, shards=contract.shards)
