"""The history of audits: an append-only log, one JSON document for each plan, target and audit.

    PLACE/PLAN/TARGET/000012-0123456789abcdef.json

The number gives the order, the rest names the landscape. An audit that is published twice stands there once. Two that
are published at the same moment share a number and both stay. Nothing is ever changed or removed.
"""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from leakscape.errors import ArtifactError
from leakscape.landscape.schema import Estimate
from leakscape.storage import Place, TakenError
from leakscape.typed_json import dump_json, field_of

SCHEMA = "leakscape/audit/1"

_NAME = re.compile(r"^(\d{6,})-([0-9a-f]{16})\.json$")
_LETTERS = 16  # of a digest, in a name


Scores = dict[str, dict[str, dict[str, float]]]
"""By condition, metric and canary or record: the mean of its rows on the metric's scale (nats, bits)."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One audit of one target.

    Args:
        schema: the name and version of this form.
        plan, target: what was audited.
        audit: the digest of the landscape.
        date: when it was published, in UTC (ISO 8601).
        passed: whether the gate passed.
        figures: by condition and metric.
        canaries, held_out: digests of what was probed; scores pair only where they are the same.
        scores: what a paired comparison needs.
    """

    schema: str
    plan: str
    target: str
    audit: str
    date: str
    passed: bool
    figures: dict[str, dict[str, Estimate]]
    canaries: str
    held_out: str
    scores: Scores


def entries(place: Place, plan: str, target: str) -> list[Entry]:
    """All audits of a target, the oldest first.

    Raises:
        ArtifactError: an entry does not fit its form.
    """
    return [_read(place, name) for name in _names(place, plan, target)]


def append(place: Place, entry: Entry) -> bool:
    """Add an audit; False if it stands there already.

    Raises:
        InputError: access is refused, or the place does not exist.
        TransientError: the service stays away.
    """
    taken = _names(place, entry.plan, entry.target)
    short = entry.audit[:_LETTERS]
    if any(_parts(name)[1] == short for name in taken):
        return False
    number = max((_parts(name)[0] for name in taken), default=0) + 1
    content = (dump_json(asdict(entry)) + "\n").encode("utf-8")
    try:
        place.create(f"{_folder(entry.plan, entry.target)}{number:06d}-{short}.json", content)
    except TakenError:
        return False
    return True


def before(found: Iterable[Entry], audit: str) -> list[Entry]:
    """The audits other than this one: an audit that is repeated does not drift against itself."""
    return [entry for entry in found if entry.audit != audit]


def _folder(plan: str, target: str) -> str:
    # A leading dot would hide the folder; quote leaves dots alone.
    parts = (quote(name, safe="") for name in (plan, target))
    return "".join(f"%2E{part[1:]}/" if part.startswith(".") else f"{part}/" for part in parts)


def _names(place: Place, plan: str, target: str) -> list[str]:
    folder = _folder(plan, target)
    known = [name for name in place.names(folder) if _NAME.match(name.removeprefix(folder))]
    return sorted(known, key=_parts)


def _parts(name: str) -> tuple[int, str]:
    number, _, digest = name.rpartition("/")[2].removesuffix(".json").partition("-")
    return int(number), digest


def _read(place: Place, name: str) -> Entry:
    try:
        entry = TypeAdapter(Entry).validate_json(place.read(name).content, strict=True)
    except ValidationError as error:
        raise ArtifactError(
            f"{name} in the history: {field_of(error)} does not fit; move it out of the history."
        ) from None
    if entry.schema != SCHEMA:
        raise ArtifactError(f"{name} in the history does not hold {SCHEMA}; this version can't read it.")
    return entry
