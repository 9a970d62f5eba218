"""What an adversary gets out of one model: whose record was trained on, and which secrets it goes on to tell."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from leakscape.errors import ContractError, IntegrityError
from leakscape.models.formatting import probe_text
from leakscape.scoring.attack_rows import AttackRow, ExtractionRow
from leakscape.scoring.attacks import ATTACKS
from leakscape.scoring.extraction import NEAR, extract
from leakscape.scoring.measure import token_limit
from leakscape.scoring.membership import attack, subjects
from leakscape.scoring.rows import Unscorable
from leakscape.scoring.spans import Item, item

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leakscape.canaries.canary import Canary
    from leakscape.models.load import LoadedModel
    from leakscape.records.record import CorpusRecord, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversary:
    """What is tried.

    Args:
        attacks: names of `leakscape.scoring.attacks.ATTACKS`.
        membership_records: training records, and as many held-out ones, that are attacked beside all canaries; 0 for
            no membership attack at all.
        extraction_samples: continuations drawn for each canary besides the greedy one; 0 for no extraction at all.
        batch_size: texts in one forward pass, at most.
        candidate_batch_size: continuations in one forward pass, at most.
        seed: of all draws.
    """

    attacks: Sequence[str]
    membership_records: int
    extraction_samples: int
    batch_size: int
    candidate_batch_size: int
    seed: int


@dataclass(frozen=True, slots=True)
class Loot:
    """What came of it; `details` holds how, and what has no score."""

    attacks: tuple[AttackRow, ...]
    extractions: tuple[ExtractionRow, ...]
    details: dict[str, Any]


def check_adversary(tried: Adversary) -> None:
    """Refuse attacks that there are not.

    Raises:
        ContractError: an attack is unknown or named twice.
    """
    if len(set(tried.attacks)) != len(tried.attacks) or not set(tried.attacks) <= set(ATTACKS):
        raise ContractError(f"--attacks takes a JSON list of some of {', '.join(ATTACKS)}, each once.")


def attack_model(
    loaded: LoadedModel,
    canaries: Sequence[Canary],
    original: Iterable[CorpusRecord],
    held_out: Iterable[Record],
    tried: Adversary,
) -> Loot:
    """Try everything that is asked for.

    Args:
        loaded: the model, with its adapters.
        canaries: all of them, those that a coin left out too.
        original: the corpus before any defence; read only for membership attacks.
        held_out: never trained on; read only for membership attacks.
        tried: checked by `check_adversary`.

    Raises:
        InputError: a text holds the model's BOS token, or the device's memory is too small.
        IntegrityError: corpus and canaries do not belong together, or an id was lost or doubled.
        LeakscapeError: the model gives no finite probability.
    """
    details: dict[str, Any] = {}
    attacks: tuple[AttackRow, ...] = ()
    extractions: tuple[ExtractionRow, ...] = ()
    if tried.attacks and tried.membership_records:
        chosen = subjects(canaries, original, held_out, records=tried.membership_records, seed=tried.seed)
        came = attack(loaded, chosen, tried.attacks, batch_size=tried.batch_size)
        attacks = came.rows
        details["membership"] = {
            "attacks": [name for name in ATTACKS if any(row.attack == name for row in attacks)],
            "reference": "the model without its last adapter" if came.reference else "",
            "members": sum(one.member for one in chosen),
            "others": sum(not one.member for one in chosen),
            "unscorable": [asdict(left_out) for left_out in came.unscorable],
            "zlib": zlib.ZLIB_RUNTIME_VERSION,
        }
    if tried.extraction_samples:
        extractions, left_out = _extract(loaded, canaries, tried)
        details["extraction"] = {
            "samples": tried.extraction_samples,
            "temperature": 1.0,
            "near": NEAR,
            "unscorable": [asdict(one) for one in left_out],
        }
    return Loot(attacks, extractions, details)


def _extract(
    loaded: LoadedModel, canaries: Sequence[Canary], tried: Adversary
) -> tuple[tuple[ExtractionRow, ...], list[Unscorable]]:
    items: list[Item] = []
    left_out: list[Unscorable] = []
    for canary in canaries:
        text = probe_text(loaded, canary.prefix, canary.secret)
        found = item(loaded, text, canary.id, limit=token_limit(loaded))
        if isinstance(found, Item):
            items.append(found)
        else:
            left_out.append(Unscorable(canary.id, found))
    came = extract(
        loaded.model,
        loaded.tokenizer,
        items,
        samples=tried.extraction_samples,
        batch_size=tried.candidate_batch_size,
        seed=tried.seed,
    )
    copies = {canary.id: canary.multiplicity for canary in canaries}
    if len(came) != len(items) * (1 + tried.extraction_samples) or len(items) + len(left_out) != len(canaries):
        raise IntegrityError("a canary was lost or doubled while the model went on; nothing was written.")
    return tuple(ExtractionRow(**asdict(each), multiplicity=copies[each.id]) for each in came), left_out
