"""A rewriter without a model: the record told in other words by seeded rules.

The plain form keeps every fact and changes only the words. The privacy-aware form gives the patient a fictional
identity and replaces every problem and medication that few people carry by a common one of the same kind. Both end
with the medications, as a record does.
"""

import datetime as dt
import random
from collections.abc import Iterator, Sequence

from leakscape.errors import InputError, RecordError
from leakscape.records import vocabulary
from leakscape.records.record import Record, parse
from leakscape.rewriting.backend import Answer, Request
from leakscape.rewriting.rarity import Rarity

STRATEGIES = ("rewrite", "privacy-aware")

_OPENINGS = (
    "{name} is a {sex} patient, born on {birth_date}.",
    "This note concerns {name}, a {sex} patient whose date of birth is {birth_date}.",
    "Seen today: {name}, {sex}, born {birth_date}.",
)
_IDENTITIES = (
    "The social security number is {ssn}, the home address {address}.",
    "Lives at {address}; social security number {ssn}.",
    "On file with social security number {ssn} and the address {address}.",
)
_PROBLEMS = ("Under care for {problems}.", "The problem list holds {problems}.", "Known conditions are {problems}.")
_NO_PROBLEMS = ("No active problem is on file.", "The problem list is empty.", "There are no known conditions.")
_NO_MEDICATIONS = ("No medication is taken.", "Nothing is prescribed at present.", "There are no drugs in use.")
_MEDICATIONS = (
    "The patient takes {medications}",
    "Prescribed at present: {medications}",
    "The drugs in use are {medications}",
)


class RulesBackend:
    """Rewrites records in the record form.

    Args:
        strategy: `rewrite` or `privacy-aware`.
        rarity: the corpus's values, for the privacy-aware form.

    Raises:
        InputError: the strategy needs a language model.
    """

    model = "rules/1"

    def __init__(self, strategy: str, rarity: Rarity) -> None:
        if strategy not in STRATEGIES:
            raise InputError(f"rules can {' and '.join(STRATEGIES)}, not {strategy}: that needs a language model.")
        self._private = strategy == "privacy-aware"
        self._rarity = rarity

    def answers(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """See `Backend`.

        Raises:
            InputError: a text has not the form of a record.
        """
        for request in requests:
            draw = random.Random(request.seed)
            record = _read(request)
            if self._private:
                record = private(record, self._rarity, draw)
            yield Answer(id=request.id, text=retell(record, draw), finish="stop")


def retell(record: Record, draw: random.Random) -> str:
    """Tell a record in other words; every value stands in the text as it is."""
    address = ", ".join(part for part in (record.street, record.city, f"{record.state} {record.zip}".strip()) if part)
    values = {
        "name": record.name or "The patient",
        "sex": record.sex or "adult",
        "birth_date": record.birth_date or "an unknown date",
        "ssn": record.ssn or "unknown",
        "address": address or "unknown",
        "problems": "; ".join(record.problems),
        "medications": "; ".join(record.medications),
    }
    problems = _PROBLEMS if record.problems else _NO_PROBLEMS
    sentences = (_OPENINGS, _IDENTITIES, problems, _MEDICATIONS if record.medications else _NO_MEDICATIONS)
    return " ".join(draw.choice(choices).format_map(values) for choices in sentences)


def private(record: Record, rarity: Rarity, draw: random.Random) -> Record:
    """A fictional person with the common clinical facts of this one.

    A rare value is replaced by a common one that the record does not hold yet, drawn by how many people carry it;
    where there is none, the value is left out.
    """
    born = dt.date(draw.randint(1930, 2015), draw.randint(1, 12), draw.randint(1, 28))
    given = draw.choice(vocabulary.given_names(record.sex if record.sex in ("male", "female") else "female")).name
    area, group, serial = draw.randint(900, 999), draw.randint(1, 99), draw.randint(1, 9999)
    return Record(
        id=record.id,
        name=f"{given} {draw.choice(vocabulary.surnames()).name}",
        sex=record.sex,
        birth_date=born.isoformat(),
        ssn=f"{area}-{group:02d}-{serial:04d}",
        street=f"{draw.randint(1, 999)} {draw.choice(vocabulary.streets()).name} Street",
        city="",
        state=record.state,
        zip="",
        problems=_without_rare("problems", record.problems, rarity, draw),
        medications=_without_rare("medications", record.medications, rarity, draw),
    )


def _without_rare(kind: str, values: Sequence[str], rarity: Rarity, draw: random.Random) -> tuple[str, ...]:
    common, weights = rarity.common(kind)
    kept: list[str] = []
    for value in values:
        if not rarity.is_rare(kind, value):
            kept.append(value)
            continue
        free = [(other, weight) for other, weight in zip(common, weights, strict=True) if other not in (*values, *kept)]
        if free:
            names, counts = zip(*free, strict=True)
            kept.append(draw.choices(names, weights=counts)[0])
    return tuple(kept)


def _read(request: Request) -> Record:
    try:
        return parse(request.source, record_id=request.id)
    except RecordError as error:
        raise InputError(f"rules rewrite only texts in the form of a record: {error}") from None
