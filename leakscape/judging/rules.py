"""A judge without a model: what share of a record's telling values survives, and what share of its common facts."""

from collections.abc import Iterator

from leakscape.judging.judgement import HIGHEST, LOWEST, Judgement
from leakscape.judging.pairs import Pair
from leakscape.judging.phrases import Phrase, forms, gist, sentence, stands_in
from leakscape.records.record import IDENTIFIERS, LISTS, CorpusRecord
from leakscape.rewriting.rarity import Rarity

MODEL = "rules/1"
"""Changes whenever the same texts would be scored otherwise."""


def judge(pair: Pair, rarity: Rarity) -> Judgement:
    """Score a rewritten record by what survives in it.

    privacy = 5 - 4 * (identifiers and rare values of the source that survive) / (those it has);
    quality = 1 + 4 * (common problems and medications of the source that survive) / (those it has).

    Args:
        pair: source and rewritten text.
        rarity: of the source's corpus: which values few people carry.
    """
    text = sentence(pair.text)
    identifiers = [_stands(found, text) for found in _identifiers(pair.source)]
    rare = [_stands(forms(kind, value), text) for kind, value in _values(pair.source) if rarity.is_rare(kind, value)]
    common = [
        stands_in(gist(kind, value), text) for kind, value in _values(pair.source) if not rarity.is_rare(kind, value)
    ]
    left = _share([*identifiers, *rare])
    kept = _share(common)
    return Judgement(
        id=pair.id,
        person=pair.source.person,
        privacy=None if left is None else HIGHEST - (HIGHEST - LOWEST) * left,
        quality=None if kept is None else LOWEST + (HIGHEST - LOWEST) * kept,
        reason=_reason(identifiers, rare, common),
    )


def _identifiers(record: CorpusRecord) -> Iterator[tuple[Phrase, ...]]:
    for field in IDENTIFIERS:
        if found := forms(field, getattr(record.fields, field)):
            yield found


def _values(record: CorpusRecord) -> Iterator[tuple[str, str]]:
    for kind in LISTS:
        yield from ((kind, value) for value in dict.fromkeys(getattr(record.fields, kind)) if forms(kind, value))


def _stands(found: tuple[Phrase, ...], text: str) -> bool:
    return any(stands_in(phrase, text) for phrase in found)


def _share(survived: list[bool]) -> float | None:
    return sum(survived) / len(survived) if survived else None


def _reason(identifiers: list[bool], rare: list[bool], common: list[bool]) -> str:
    if any(identifiers):
        return "identifier"
    if any(rare):
        return "rare-value"
    return "none" if all(common) else "fact-lost"
