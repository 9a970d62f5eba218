"""Judges a rewritten corpus against the corpus that it was made from."""

import os
from collections.abc import Iterator
from typing import Any

from components.judge.contract import Judge
from leakscape import artifacts, schemas
from leakscape.artifacts import Artifact
from leakscape.errors import InputError, IntegrityError
from leakscape.judging import pairs, rubric, rules
from leakscape.judging.judgement import Judgement, read
from leakscape.judging.pairs import Pair
from leakscape.judging.summary import Tally
from leakscape.progress import say, track
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord
from leakscape.rewriting import outcome
from leakscape.rewriting.choose import ModelSettings, language_model, libraries
from leakscape.rewriting.job import Job, Result, Settings
from leakscape.rewriting.ledger import open_ledger
from leakscape.rewriting.rarity import count_values
from leakscape.settings import settings_of

_REMEDY = (
    "raise --max-output-tokens or --attempts, choose another model, or set --structured false if the service refuses "
    "structured output."
)


class _Cohort:
    """The pairs that are judged, streamed anew at each call, and how many they are."""

    def __init__(self, contract: Judge) -> None:
        self.original: Artifact = artifacts.load(contract.original, schema=schemas.CORPUS)
        self.corpus: Artifact = artifacts.load(contract.corpus, schema=schemas.CORPUS)
        self.total = self.corpus.manifest.files["records.jsonl"].rows or 0
        if not self.total:
            raise InputError(f"{contract.corpus} holds no record to judge.")
        self._drawn: frozenset[str] | None = None
        if 0 < contract.sample < self.total:
            ids = (record.id for record in _rows(self.corpus))
            self._drawn = pairs.draw(ids, contract.sample, seed=contract.seed)
        self.wanted = self.total if self._drawn is None else len(self._drawn)

    def pairs(self) -> Iterator[Pair]:
        for pair in pairs.pairs(_rows(self.original), _rows(self.corpus)):
            if self._drawn is None or pair.id in self._drawn:
                yield pair


def run(contract: Judge) -> None:
    """Judge as the contract says.

    Raises:
        InputError: the corpus is empty, a setting is missing, or too many answers had to be quarantined.
        IntegrityError: a record has no source in its place, or a judgement was lost.
    """
    cohort = _Cohort(contract)
    made = provenance(contract, libraries=libraries(contract.backend), details=_details(contract, cohort))
    result, model = (None, rules.MODEL) if contract.backend == "rules" else _ask(contract, cohort)
    tally = Tally()
    with artifacts.create(contract.judgements, schema=schemas.JUDGEMENTS, provenance=made) as folder:
        judged = _by_rules(contract, cohort) if result is None else _by_model(cohort, result)
        written = folder.write_rows("judgements.jsonl", _counted(judged, tally))
        quarantined = len(result.quarantined) if result else 0
        if written + quarantined != cohort.wanted:
            raise IntegrityError(f"{cohort.wanted} records were to be judged, but {written} judgements were made.")
        folder.details = {"model": model, **tally.summary(), **outcome.counts(result or Result())}
        folder.seconds = {"calls": sum(entry.seconds for entry in result.entries)} if result else {}
        folder.write_rows("ledger.jsonl", (outcome.ledger_row(entry) for entry in (result.entries if result else ())))
        folder.write_json("summary.json", {**made.details, **folder.details})
    say(f"{written} of {cohort.total} records judged")


def _details(contract: Judge, cohort: _Cohort) -> dict[str, Any]:
    by_model = {"rubric": contract.rubric, "rubric_sha256": rubric.digest(contract.rubric), "effort": contract.effort}
    return {
        "corpus": cohort.corpus.manifest.digest,
        "original": cohort.original.manifest.digest,
        "backend": contract.backend,
        "records": cohort.total,
        **({"rare_below": contract.rare_below} if contract.backend == "rules" else by_model),
    }


def _ask(contract: Judge, cohort: _Cohort) -> tuple[Result, str]:
    inputs = [cohort.original.manifest.digest, cohort.corpus.manifest.digest, rubric.digest(contract.rubric)]
    job = outcome.job_digest(contract, inputs, skip=("sample", "rare_below"))
    ledger = open_ledger(contract.ledger_dir, job)
    try:
        judge = language_model(settings_of(contract, ModelSettings), os.environ)
        settings = settings_of(contract, Settings)
        stage = rubric.stage(contract.rubric, structured=contract.structured)
        sources = [rubric.source_of(pair) for pair in cohort.pairs()]
        result = Job(backend=judge, ledger=ledger, stages=[stage], settings=settings).run(sources)
    finally:
        ledger.close()
    outcome.check_quarantine(result, cohort.wanted, most=contract.max_quarantined, what="judgements", remedy=_REMEDY)
    return result, judge.model


def _by_model(cohort: _Cohort, result: Result) -> Iterator[Judgement]:
    for pair in cohort.pairs():
        if pair.id in result.texts:
            scores = read(result.texts[pair.id])
            if scores is None:
                raise IntegrityError(f"the answer for {pair.id} was accepted, but does not fit its schema.")
            person = pair.source.person
            yield Judgement(
                id=pair.id, person=person, privacy=scores.privacy, quality=scores.quality, reason=scores.reason
            )


def _by_rules(contract: Judge, cohort: _Cohort) -> Iterator[Judgement]:
    rarity = count_values(_rows(cohort.original), rare_below=contract.rare_below)
    for pair in track(cohort.pairs(), total=cohort.wanted, what="judging records"):
        yield rules.judge(pair, rarity)


def _counted(judged: Iterator[Judgement], tally: Tally) -> Iterator[Judgement]:
    for judgement in judged:
        tally.add(judgement)
        yield judgement


def _rows(corpus: Artifact) -> Iterator[CorpusRecord]:
    return corpus.rows("records.jsonl", CorpusRecord)
