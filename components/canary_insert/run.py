"""Plants canaries: populations in, corpus and canaries out."""

from collections import Counter
from pathlib import Path
from typing import Any

from components.canary_insert.contract import CanaryInsert
from leakscape import artifacts, schemas
from leakscape.canaries.assignment import SHUFFLE, check_multiplicities
from leakscape.canaries.insert import Planted, Settings, Stream, corpus, plant
from leakscape.canaries.names import MORPHOLOGY
from leakscape.canaries.question import QUESTION_VERSION
from leakscape.errors import IntegrityError
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records.builtin import drug_names
from leakscape.records.record import Record


def run(contract: CanaryInsert) -> None:
    """Plant canaries as the contract says.

    Raises:
        ContractError: the multiplicities are no list of distinct whole numbers, or more than there are canaries.
        InputError: the population is too small, or holds a coined name.
        IntegrityError: the corpus does not hold each record once and each canary as often as it should.
    """
    settings = Settings(
        count=contract.count,
        multiplicities=check_multiplicities(contract.multiplicities, contract.count),
        alternatives=contract.alternatives,
        rotation=contract.rotation,
        coins=contract.inclusion == "coin",
        seed=contract.seed,
    )
    train = _stream(contract.train)
    planted = plant(train, [_stream(contract.held_out), _stream(contract.exemplars)], settings, drug_names())
    made = provenance(contract, details=_details(planted))
    # Nested, so that neither folder gets its name before both are whole.
    with (
        artifacts.create(contract.canaries, schema=schemas.CANARIES, provenance=made) as folder,
        artifacts.create(contract.corpus, schema=schemas.CORPUS, provenance=made) as target,
    ):
        folder.write_rows("canaries.jsonl", planted.canaries)
        folder.write_rows("alternatives.jsonl", ({"name": name} for name in planted.alternatives))
        written = target.write_rows("records.jsonl", corpus(train(), planted, seed=contract.seed))
        expected = planted.donors.records + sum(canary.multiplicity for canary in planted.canaries)
        if written != expected:
            raise IntegrityError(f"the corpus holds {written} instances instead of {expected}.")
    say(f"{len(planted.canaries)} canaries planted among {planted.donors.records} records: {written} instances")


def _stream(path: Path) -> Stream:
    population = artifacts.load(path, schema=schemas.POPULATION)
    return lambda: population.rows("records.jsonl", Record)


def _details(planted: Planted) -> dict[str, Any]:
    groups = Counter(canary.multiplicity for canary in planted.canaries)
    return {
        "records": planted.donors.records,
        "records_incomplete": planted.donors.incomplete,
        "canaries_by_multiplicity": {str(times): groups[times] for times in sorted(groups)},
        "copies": sum(canary.multiplicity for canary in planted.canaries),
        "alternatives": len(planted.alternatives),
        "shuffle": SHUFFLE,
        "morphology": MORPHOLOGY,
        "question": QUESTION_VERSION,
    }
