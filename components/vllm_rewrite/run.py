"""Rewrites a corpus."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from components.vllm_rewrite.backends import backend
from components.vllm_rewrite.contract import VllmRewrite
from leakscape import artifacts, schemas
from leakscape.errors import InputError, IntegrityError
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord, Record, render
from leakscape.rewriting import prompts
from leakscape.rewriting.corpus import rewritten, sources
from leakscape.rewriting.job import Job, Result, Settings
from leakscape.rewriting.ledger import open_ledger

# What changes how answers are had, but not what they are: a job resumes although these differ.
_OPERATIONAL = {
    "attempts", "max_quarantined", "key_variable", "base_url", "concurrency", "timeout", "retries", "price_in",
    "price_out", "max_cost", "tensor_parallel", "batch_size", "device", "ledger_dir",
}  # fmt: skip


def run(contract: VllmRewrite) -> None:
    """Rewrite every record; fail if too many had to be quarantined."""
    corpus = artifacts.load(contract.corpus, schema=schemas.CORPUS)
    exemplars = artifacts.load(contract.exemplars, schema=schemas.POPULATION)
    texts = _exemplar_texts(corpus, exemplars)
    job = _job_digest(contract, corpus, exemplars)
    ledger = open_ledger(contract.ledger_dir, job)
    try:
        rewriter = backend(contract, lambda: _records(corpus))
        settings = Settings(
            strategy=contract.strategy,
            attempts=contract.attempts,
            seed=contract.seed,
            price_in=contract.price_in,
            price_out=contract.price_out,
            max_cost=contract.max_cost,
        )
        wanted = list(sources(_records(corpus), copies=contract.copies))
        result = Job(backend=rewriter, ledger=ledger, settings=settings, exemplars=texts).run(wanted)
    finally:
        ledger.close()
    _check(contract, result, len(wanted))
    _write(contract, corpus, result, model=rewriter.model)


def _write(contract: VllmRewrite, corpus: artifacts.Artifact, result: Result, *, model: str) -> None:
    details = {"model": model, "prompt_sha256": prompts.digest(contract.strategy), "strategy": contract.strategy}
    made = provenance(contract, details=details)
    with artifacts.create(contract.rewritten, schema=schemas.CORPUS, provenance=made) as folder:
        folder.write_rows("records.jsonl", rewritten(_records(corpus), result, copies=contract.copies))
    summary = details | _summary(contract, result) | {"corpus": artifacts.read_manifest(contract.rewritten).digest}
    with artifacts.create(contract.ledger, schema=schemas.LEDGER, provenance=made) as folder:
        folder.details = summary
        folder.seconds = {"calls": sum(entry.seconds for entry in result.entries)}
        folder.write_rows("ledger.jsonl", (_row(entry) for entry in result.entries))
        folder.write_json("summary.json", summary)


def _row(entry: object) -> dict[str, Any]:
    """A ledger line of the artifact: everything but the text (it is in the corpus) and the seconds (they vary)."""
    return {item.name: getattr(entry, item.name) for item in fields(entry) if item.name not in ("text", "seconds")}  # type: ignore[arg-type]


def _summary(contract: VllmRewrite, result: Result) -> dict[str, Any]:
    outcomes = Counter(entry.outcome for entry in result.entries)
    return {
        "effort": contract.effort,
        "rewritten": len(result.texts),
        "quarantined": dict(sorted(result.quarantined.items())),
        "answers": dict(sorted(outcomes.items())),
        "duplicate_answers": result.duplicates,
        "tokens_in": sum(entry.tokens_in for entry in result.entries),
        "tokens_out": sum(entry.tokens_out for entry in result.entries),
        "cost": sum(entry.cost for entry in result.entries),
    }


def _check(contract: VllmRewrite, result: Result, wanted: int) -> None:
    if len(result.texts) + len(result.quarantined) != wanted:
        counts = f"{len(result.texts)} came and {len(result.quarantined)} are quarantined"
        raise IntegrityError(f"{wanted} rewrites were wanted, but {counts}.")
    if not wanted:
        raise InputError("the corpus holds no record to rewrite.")
    outcomes = ", ".join(
        f"{count} {outcome}" for outcome, count in sorted(Counter(result.quarantined.values()).items())
    )
    if result.quarantined:
        say(f"{len(result.quarantined)} of {wanted} rewrites quarantined ({outcomes})")
    share = len(result.quarantined) / wanted
    if share > contract.max_quarantined:
        raise InputError(
            f"{share:.1%} of the rewrites had to be quarantined ({outcomes}), more than --max-quarantined "
            f"{contract.max_quarantined:.1%} allows; raise --max-output-tokens or --attempts, or choose another model."
        )


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


def _job_digest(contract: VllmRewrite, corpus: artifacts.Artifact, exemplars: artifacts.Artifact) -> str:
    """Names everything that determines the answers; a ledger of another job is never read."""
    settings = {
        item.name: getattr(contract, item.name)
        for item in fields(contract)
        if item.name not in _OPERATIONAL | {"corpus", "exemplars", "rewritten", "ledger"}
    }
    inputs = [corpus.manifest.digest, exemplars.manifest.digest, prompts.digest(contract.strategy)]
    return hashlib.sha256(artifacts.dump_json([settings, inputs]).encode()).hexdigest()[:32]
