"""Audits a corpus against the people it was made from and people it never saw."""

from collections.abc import Iterator
from typing import Any

from components.corpus_audit.contract import CorpusAudit
from leakscape import artifacts, schemas
from leakscape.artifacts import Artifact
from leakscape.canaries.canary import Canary
from leakscape.corpus_audit.coined import COINED, CoinedNames
from leakscape.corpus_audit.disclosures import compare, rate
from leakscape.corpus_audit.features import FeatureIndex
from leakscape.corpus_audit.people import Cohort, take_up
from leakscape.errors import InputError
from leakscape.progress import say, track
from leakscape.provenance import provenance
from leakscape.records.record import CorpusRecord, Record


def run(contract: CorpusAudit) -> None:
    """Audit as the contract says.

    Raises:
        InputError: the inputs do not belong together, or a side is empty.
        RecordError: a held-out record can't be rendered.
    """
    original = artifacts.load(contract.original, schema=schemas.CORPUS)
    corpus = artifacts.load(contract.corpus, schema=schemas.CORPUS)
    held_out = artifacts.load(contract.held_out, schema=schemas.POPULATION)
    planted = artifacts.load(contract.canaries, schema=schemas.CANARIES)
    canaries = list(planted.rows("canaries.jsonl", Canary))
    names = CoinedNames(canaries, (row["name"] for row in planted.rows("alternatives.jsonl", dict[str, str])))
    index = FeatureIndex(rare_below=contract.rare_below, run=contract.run_words)
    cohort = take_up(index, _rows(original), held_out.rows("records.jsonl", Record), canaries)
    total = corpus.manifest.files["records.jsonl"].rows or 0
    if not total:
        raise InputError(f"{contract.corpus} holds no record to audit.")
    for record in track(_rows(corpus), total=total, what="looking for features"):
        index.look(record.text)
        names.look(record.text)
    found = _summary(contract, index, names, cohort) | {"records": total, "corpus": corpus.manifest.digest}
    details = {"corpus": corpus.manifest.digest, "original": original.manifest.digest}
    made = provenance(contract, libraries=("numpy", "scipy"), details=details)
    with artifacts.create(contract.disclosures, schema=schemas.DISCLOSURES, provenance=made) as folder:
        folder.write_json("disclosures.json", found)
    _tell(found["types"])


def _summary(contract: CorpusAudit, index: FeatureIndex, names: CoinedNames, cohort: Cohort) -> dict[str, Any]:
    groups = names.by_multiplicity().items()
    return {
        "run_words": contract.run_words,
        "rare_below": contract.rare_below,
        "people": {"train": cohort.train, "held_out": cohort.held_out, "canaries": cohort.canaries},
        **compare({**index.counts(), COINED: names.count()}),
        "coined_by_multiplicity": {str(times): rate(*counts) for times, counts in groups},
    }


def _tell(types: dict[str, Any]) -> None:
    leaky = [kind for kind, found in types.items() if found["p_holm"] <= 0.05]  # noqa: PLR2004 - the usual level
    if leaky:
        say(f"train shows more often than chance allows in {len(leaky)} of {len(types)} types: {', '.join(leaky)}")
    else:
        say(f"in none of {len(types)} types train shows more often than chance allows")


def _rows(corpus: Artifact) -> Iterator[CorpusRecord]:
    return corpus.rows("records.jsonl", CorpusRecord)
