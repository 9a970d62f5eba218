"""The texts that a model is probed with: what is scored, and what stands before it."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from leakscape.canaries.canary import Canary
from leakscape.errors import IntegrityError
from leakscape.records.record import Record, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One text to score.

    Args:
        probe, id, group, multiplicity: as in `leakscape.scoring.rows.Row`.
        prefix: what stands before the target.
        target: what is scored.
        question: the prefix is a question that the target answers.
    """

    probe: str
    id: str
    group: str
    multiplicity: int | None
    prefix: str
    target: str
    question: bool = False


@dataclass(frozen=True, slots=True)
class Alternative:
    """A coined name that is planted nowhere: a row of `alternatives.jsonl`."""

    name: str


def canary_probes(canary: Canary) -> tuple[Probe, ...]:
    """The secret after its record (verbatim) and after a question about the patient (semantic).

    A canary that a coin left out (multiplicity 0) is probed as any other.
    """
    verbatim = Probe(
        probe="verbatim",
        id=canary.id,
        group=canary.id,
        multiplicity=canary.multiplicity,
        prefix=canary.prefix,
        target=canary.secret,
    )
    return verbatim, replace(verbatim, probe="semantic", prefix=canary.question, question=True)


def record_probes(record: Record) -> tuple[Probe, ...]:
    """A whole unseen record (held_out), and its last medication given the record up to it (medication)."""
    text, spans = render(record)
    start = spans[-1].start
    whole = Probe(probe="held_out", id=record.id, group=record.id, multiplicity=None, prefix="", target=text)
    return whole, replace(whole, probe="medication", prefix=text[:start], target=text[start:])


def unplanted_probes(canary: Canary, names: Sequence[str], *, count: int, seed: int) -> tuple[Probe, ...]:
    """Names that are planted nowhere, after the canary's record.

    They show what fine-tuning alone does to the perplexity of a coined name. Which ones a canary gets depends on the
    seed and its id alone, so every condition of a plan scores the same.

    Args:
        canary: whose prefix they follow, and whose multiplicity they carry.
        names: to draw from.
        count: how many; all of them where there are fewer.
        seed: of the draw.
    """
    draw = random.Random(f"leakscape/unplanted/1/{seed}/{canary.id}")
    return tuple(
        replace(canary_probes(canary)[0], probe="unplanted", id=f"{canary.id}/unplanted-{number}", target=name)
        for number, name in enumerate(draw.sample(names, min(count, len(names))), start=1)
    )


def check_canaries(canaries: Sequence[Canary], alternatives: Sequence[str]) -> None:
    """Make sure that each canary stands once and is what its prefix and secret say, and no name twice.

    Raises:
        IntegrityError: with the canary's id or the alternative's line, never with a name.
    """
    _check_once(canary.id for canary in canaries)
    secrets = {canary.secret: canary.id for canary in canaries}
    for canary in canaries:
        if secrets[canary.secret] != canary.id:
            raise IntegrityError(f"{canary.id} has the secret of another canary.")
        if render(canary.record)[0] != canary.prefix + canary.secret:
            raise IntegrityError(f"{canary.id} holds another text than its prefix and its secret.")
    seen: set[str] = set()
    for line, name in enumerate(alternatives, start=1):
        if name in secrets or name in seen:
            raise IntegrityError(f"alternatives.jsonl, line {line}: the name is a secret or stands twice.")
        seen.add(name)


def once(records: Iterable[Record]) -> Iterator[Record]:
    """Pass records on.

    Raises:
        IntegrityError: an id comes a second time.
    """
    seen: set[str] = set()
    for record in records:
        if record.id in seen:
            raise IntegrityError(f"record {record.id} stands twice in the held-out population.")
        seen.add(record.id)
        yield record


def _check_once(ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for canary_id in ids:
        if canary_id in seen:
            raise IntegrityError(f"{canary_id} stands twice among the canaries.")
        seen.add(canary_id)
