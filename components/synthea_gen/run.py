"""Draw the populations and write them, all three or none."""

import datetime as dt
import tempfile
from pathlib import Path

from components.synthea_gen.contract import SyntheaGen
from leakscape import artifacts
from leakscape.errors import ContractError
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.records import populations, synthea_jar
from leakscape.records.split import Guard
from leakscape.records.synthea import Choices
from leakscape.records.values import is_date
from leakscape.schemas import POPULATION
from leakscape.storage import local_copy

_POPULATIONS = ("train", "held_out", "exemplars")


def run(contract: SyntheaGen) -> None:
    """Write the three populations.

    Raises:
        ContractError: an argument that the source needs is missing.
        InputError: the source is missing, has changed, can't be read or holds too few people.
        IntegrityError: an id comes twice or a person stands in two populations.
        TransientError: the S3 service that holds the source stays away.
    """
    with tempfile.TemporaryDirectory(prefix="synthea-") as scratch:
        drawn = draw(contract, Path(scratch))
        made = provenance(contract, details={"source": contract.source, **drawn.details})
        guard = Guard()
        wanted = {getattr(contract, name): POPULATION for name in _POPULATIONS}
        with artifacts.create_all(wanted, provenance=made) as folders:
            for name, folder in zip(_POPULATIONS, folders, strict=True):
                count = folder.write_rows("records.jsonl", guard.watch(name, getattr(drawn, name)))
                say(f"{name}: {count} records")


def draw(contract: SyntheaGen, scratch: Path) -> populations.Populations:
    """Draw from the source that the contract names."""
    if contract.source != "builtin" and not contract.path:
        raise ContractError(f"--path must be given for the source {contract.source}.")
    if not is_date(contract.reference_date):
        raise ContractError("--reference-date must be a day in the form YYYY-MM-DD.")
    day = dt.date.fromisoformat(contract.reference_date)
    choices, sizes = _choices(contract), _sizes(contract)
    if contract.source == "builtin":
        return populations.from_builtin(sizes, seed=contract.seed, reference_date=day)
    path, pinned = local_copy(contract.path, scratch), contract.content_hash
    if contract.source == "synthea-jar":
        return populations.from_jar(_jar(contract, path, day), choices, sizes, scratch=scratch, content_hash=pinned)
    return populations.from_files(
        contract.source, path, choices, sizes, seed=contract.seed, reference_date=day, content_hash=pinned
    )


def _choices(contract: SyntheaGen) -> Choices:
    return Choices(
        dead=contract.dead,
        problems=contract.problems,
        name_numbers=contract.name_numbers,
        titles=contract.titles,
        without_medication=contract.without_medication,
    )


def _sizes(contract: SyntheaGen) -> populations.Sizes:
    return populations.Sizes(
        train=contract.train_count,
        held_out=contract.held_out_count,
        held_out_share=contract.held_out_share,
        exemplars=contract.exemplar_count,
    )


def _jar(contract: SyntheaGen, jar: Path, day: dt.date) -> synthea_jar.Run:
    if contract.clinician_seed < 0:
        raise ContractError(
            "--clinician-seed must be given for the source synthea-jar: without it no run is repeatable."
        )
    return synthea_jar.Run(
        jar=jar,
        population=contract.population or populations.living(_sizes(contract)),
        seed=contract.seed,
        clinician_seed=contract.clinician_seed,
        reference_date=day,
        state=contract.state,
        name_numbers=contract.name_numbers == "keep",
        only_alive=contract.dead == "drop",
    )
