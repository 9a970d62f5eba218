"""Membership attacks on one model: draws whom to attack, observes each text once and runs every attack on it.

Members are canaries with copies and a sample of the training records, as they were before any defence: what is at
stake is whether a person was in the data, not in which wording. Others are canaries that a coin left out and a sample
of the held-out records.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from leakscape.errors import IntegrityError
from leakscape.models.formatting import probe_text
from leakscape.records.record import CorpusRecord, Record, render
from leakscape.scoring.attack_rows import AttackRow
from leakscape.scoring.attacks import ATTACKS, Observed
from leakscape.scoring.engine import score
from leakscape.scoring.measure import token_limit
from leakscape.scoring.observe import adapter_off, observe
from leakscape.scoring.probes import once
from leakscape.scoring.rows import Unscorable
from leakscape.scoring.spans import Item, item

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from leakscape.canaries.canary import Canary
    from leakscape.models.load import LoadedModel
    from leakscape.scoring.observe import Moments

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A text whose membership is asked for; the fields are those of `AttackRow`."""

    id: str
    kind: str
    member: bool
    multiplicity: int | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """What came of attacks.

    Args:
        rows: by attack, and within an attack in the order of the subjects.
        unscorable: texts without a score under any attack.
        reference: whether there was a model without the last adapter to compare with.
    """

    rows: tuple[AttackRow, ...]
    unscorable: tuple[Unscorable, ...]
    reference: bool


def subjects(
    canaries: Sequence[Canary],
    original: Iterable[CorpusRecord],
    held_out: Iterable[Record],
    *,
    records: int,
    seed: int,
) -> list[Subject]:
    """Choose whom to attack: every canary, `records` training records and as many held-out ones, or all there are.

    The draw depends on the seed and the streams' order alone, so every condition of a plan attacks the same.

    Args:
        canaries: with and without copies.
        original: the corpus before any defence, streamed once.
        held_out: never trained on, streamed once.
        records: of each side, at most.
        seed: of the draw.

    Raises:
        IntegrityError: the corpus does not hold the canaries as often as they say, or an id is on both sides.
    """
    planted = [
        Subject(
            id=canary.id,
            kind="canary",
            member=canary.multiplicity > 0,
            multiplicity=canary.multiplicity,
            text=canary.prefix + canary.secret,
        )
        for canary in canaries
    ]
    trained = draw(_trained(canaries, original), records, random.Random(f"leakscape/members/1/{seed}"))
    unseen = draw(map(_unseen, once(held_out)), records, random.Random(f"leakscape/non-members/1/{seed}"))
    chosen = [*planted, *trained, *unseen]
    for subject_id, times in Counter(subject.id for subject in chosen).items():
        if times > 1:
            raise IntegrityError(f"{subject_id} stands {times} times among those whose membership is asked for.")
    return chosen


def draw(stream: Iterable[T], count: int, rng: random.Random) -> list[T]:
    """A sample without replacement of a stream of unknown length, in the stream's order; all of a shorter one.

    Algorithm R (Vitter 1985): only `count` items are in memory.
    """
    kept: list[tuple[int, T]] = []
    for number, one in enumerate(stream):
        if number < count:
            kept.append((number, one))
        elif (place := rng.randrange(number + 1)) < count:
            kept[place] = (number, one)
    return [one for _, one in sorted(kept, key=lambda pair: pair[0])]


def attack(loaded: LoadedModel, chosen: Sequence[Subject], attacks: Sequence[str], *, batch_size: int) -> Attacked:
    """Run attacks on every subject.

    Args:
        loaded: the model, with its adapters.
        chosen: from `subjects`.
        attacks: names of `leakscape.scoring.attacks.ATTACKS`.
        batch_size: texts in one forward pass, at most.

    Raises:
        InputError: a text holds the model's BOS token, or the device's memory is too small.
        IntegrityError: a subject was lost or doubled.
        LeakscapeError: the model gives no finite probability.
    """
    limit = token_limit(loaded)
    located = [item(loaded, probe_text(loaded, "", one.text), one.id, limit=limit) for one in chosen]
    pairs = [(one, found) for one, found in zip(chosen, located, strict=True) if isinstance(found, Item)]
    left_out = [
        Unscorable(one.id, found) for one, found in zip(chosen, located, strict=True) if not isinstance(found, Item)
    ]
    items = [found for _, found in pairs]
    seen = observe(loaded.model, items, batch_size=batch_size, what="attacking membership")
    references = _references(loaded, items, batch_size=batch_size if "reference" in attacks else 0)
    rows: list[AttackRow] = []
    for name in ATTACKS:
        if name in attacks:
            for (one, _), moments, reference in zip(pairs, seen, references, strict=True):
                rows += _row(name, one, moments, reference)
    _check(rows, left_out, chosen)
    return Attacked(rows=tuple(rows), unscorable=tuple(left_out), reference=None not in references[:1])


def _trained(canaries: Sequence[Canary], original: Iterable[CorpusRecord]) -> Iterator[Subject]:
    """The training records of a corpus, its canaries' copies counted and left out."""
    expected = {canary.id: canary.multiplicity for canary in canaries}
    copies: Counter[str] = Counter()
    for row in original:
        if row.person in expected:
            copies[row.person] += 1
        else:
            yield Subject(id=row.id, kind="record", member=True, multiplicity=None, text=row.text)
    for canary_id, times in expected.items():
        if copies[canary_id] != times:
            raise IntegrityError(
                f"{canary_id} should stand {times} times in the original corpus, but stands {copies[canary_id]} times; "
                "give the corpus that was made with these canaries."
            )


def _unseen(record: Record) -> Subject:
    return Subject(id=record.id, kind="record", member=False, multiplicity=None, text=render(record)[0])


def _references(loaded: LoadedModel, items: Sequence[Item], *, batch_size: int) -> list[float | None]:
    """Each text's log-likelihood without the last adapter; None where there is none, or no batch to score it in."""
    if batch_size:
        with adapter_off(loaded.model) as there:
            if there:
                scores = score(loaded.model, items, batch_size=batch_size, what="scoring the reference")
                return [found.log_likelihood for found in scores]
    return [None] * len(items)


def _row(name: str, one: Subject, moments: Moments, reference: float | None) -> Iterator[AttackRow]:
    observed = Observed(
        text=one.text,
        token_log_likelihoods=np.array(moments.log_likelihoods),
        expected=np.array(moments.expected),
        deviation=np.array(moments.deviation),
        reference_log_likelihood=reference,
    )
    value = ATTACKS[name](observed)
    if value is not None:
        yield AttackRow(
            attack=name, id=one.id, kind=one.kind, member=one.member, multiplicity=one.multiplicity, score=value
        )


def _check(rows: Sequence[AttackRow], left_out: Sequence[Unscorable], chosen: Sequence[Subject]) -> None:
    """Every attack that gave any row has one for each subject that has a score."""
    wanted = Counter(one.id for one in chosen) - Counter(one.id for one in left_out)
    for name in {row.attack for row in rows}:
        if Counter(row.id for row in rows if row.attack == name) != wanted:
            raise IntegrityError(f"a text was lost or doubled under the attack {name}; nothing was written.")
