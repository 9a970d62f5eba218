"""All that is measured of one model: probes of canaries and of unseen records, and the ranks of secrets."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from leakscape.canaries.canary import Canary
from leakscape.canaries.question import QUESTION, QUESTION_VERSION
from leakscape.errors import ContractError, InputError
from leakscape.models.formatting import probe_text
from leakscape.records.record import Record
from leakscape.scoring.measure import Tally, measure, measure_exposure
from leakscape.scoring.probes import Probe, canary_probes, check_canaries, once, record_probes, unplanted_probes
from leakscape.scoring.rows import PROBES

if TYPE_CHECKING:
    from leakscape.models.load import LoadedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to measure, and how.

    Args:
        probes: some of `leakscape.scoring.rows.PROBES`.
        alternatives: names that each secret is ranked among, the first ones; -1 for all, 0 for no exposure.
        unplanted: names scored after each canary's record, drawn by `seed`.
        held_out_limit: held-out records to score, the first ones; 0 for all.
        batch_size: texts in one forward pass, at most.
        candidate_batch_size: names in one forward pass, at most.
        seed: of the draw.
    """

    probes: Sequence[str]
    alternatives: int
    unplanted: int
    held_out_limit: int
    batch_size: int
    candidate_batch_size: int
    seed: int


@dataclass(frozen=True, slots=True)
class Planted:
    """The canaries and the names that were left unplanted."""

    canaries: tuple[Canary, ...]
    names: tuple[str, ...]


def check_request(request: Request, planted: Planted) -> None:
    """Refuse, before a model is loaded, what can't be measured.

    Raises:
        ContractError: a probe is unknown or none is named, or more alternatives are wanted than there are.
        InputError: there is no canary.
        IntegrityError: a canary stands twice or does not fit its text, or an alternative is a secret.
    """
    if not request.probes or any(probe not in PROBES for probe in request.probes):
        raise ContractError(f"--probes takes a JSON list of some of {', '.join(PROBES)}.")
    if not planted.canaries:
        raise InputError("there is no canary to measure; plant some first.")
    if request.alternatives > len(planted.names):
        raise ContractError(
            f"--alternatives is {request.alternatives}, but only {len(planted.names)} names were left unplanted; "
            "lower it, or plant with more alternatives."
        )
    check_canaries(planted.canaries, planted.names)


def measure_condition(loaded: "LoadedModel", planted: Planted, records: Iterable[Record], request: Request) -> Tally:
    """Measure everything that is requested, and account for every id.

    Args:
        loaded: the model, with its adapters.
        planted: from the canaries artifact.
        records: the held-out population; read only if a probe needs it.
        request: checked by `check_request`.

    Raises:
        InputError: a text holds the model's BOS token, or the device's memory is too small.
        IntegrityError: an id stands twice, or is lost on the way.
        LeakscapeError: the model gives no finite probability.
    """
    tally, wanted = Tally(), set(request.probes)
    expected: list[tuple[str, str]] = []

    def noted(probes: Iterable[Probe]) -> Iterator[Probe]:
        for probe in probes:
            if probe.probe in wanted:
                expected.append((probe.probe, probe.id))
                yield probe

    size = request.batch_size
    measure(tally, loaded, noted(_of_canaries(planted, request)), batch_size=size, what="scoring canaries")
    if wanted & {"held_out", "medication"}:
        measure(tally, loaded, noted(_of_records(records, request)), batch_size=size, what="scoring held-out records")
    if "exposure" in wanted and request.alternatives:
        expected += [("exposure", canary.id) for canary in planted.canaries]
        names = planted.names[: ranked_among(request, planted)]
        measure_exposure(tally, loaded, planted.canaries, names, batch_size=request.candidate_batch_size)
    tally.check(expected)
    return tally


def ranked_among(request: Request, planted: Planted) -> int:
    """How many names a secret is ranked among."""
    return len(planted.names) if request.alternatives < 0 else request.alternatives


def details(request: Request, planted: Planted, loaded: "LoadedModel", tally: Tally) -> dict[str, Any]:
    """What a reader of the measurements must know beside the scores."""
    return {
        "seed": request.seed,
        "canaries": len(planted.canaries),
        "alternatives": ranked_among(request, planted),
        "unplanted": min(request.unplanted, len(planted.names)),
        "frozen_date": loaded.frozen_date,
        "extrapolation_flags": dict(sorted(tally.flags.items())),
        "shared_prefix_tokens": {"fewest": min(tally.shared, default=0), "most": max(tally.shared, default=0)},
    }


def prompt_hash(loaded: "LoadedModel") -> str:
    """SHA-256 over what stands around the texts of both kinds of probes, as the model reads them.

    That is the question of the semantic probe and, for chat models, the template, the user's turn and the frozen date.
    """
    forms = [probe_text(loaded, QUESTION, "answer", question=True), probe_text(loaded, "record, ", "target")]
    parts = [QUESTION_VERSION, *(form.text for form in forms)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _of_canaries(planted: Planted, request: Request) -> Iterator[Probe]:
    for canary in planted.canaries:
        yield from canary_probes(canary)
        yield from unplanted_probes(canary, planted.names, count=request.unplanted, seed=request.seed)


def _of_records(records: Iterable[Record], request: Request) -> Iterator[Probe]:
    for record in islice(once(records), request.held_out_limit or None):
        yield from record_probes(record)
