"""What became of a job: its name, its counts, its ledger for an artifact, and whether too much was quarantined."""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from leakscape.artifacts import Folder
from leakscape.contract import spec
from leakscape.errors import InputError, IntegrityError
from leakscape.progress import say
from leakscape.rewriting.job import Result
from leakscape.rewriting.ledger import Entry
from leakscape.typed_json import dump_json


def job_digest(contract: object, inputs: Sequence[str], *, skip: Collection[str] = ()) -> str:
    """Names everything that determines the answers; a ledger of another job is never read.

    Args:
        contract: the component's; its operational parameters determine nothing.
        inputs: digests of the artifacts and prompts.
        skip: the names of more parameters that determine nothing.
    """
    found = spec(contract)
    names = [field.name for field in found.params if field.name not in found.operational | set(skip)]
    settings = {name: getattr(contract, name) for name in names}
    return hashlib.sha256(dump_json([settings, list(inputs)]).encode()).hexdigest()[:32]


def ledger_row(entry: Entry) -> dict[str, Any]:
    """A ledger line for an artifact: everything but the text and the seconds (they vary)."""
    return {item.name: getattr(entry, item.name) for item in fields(entry) if item.name not in ("text", "seconds")}


def counts(result: Result) -> dict[str, Any]:
    """What a job took: outcomes, tokens, cost, and the ids in quarantine."""
    outcomes = Counter(entry.outcome for entry in result.entries)
    return {
        "quarantined": dict(sorted(result.quarantined.items())),
        "answers": dict(sorted(outcomes.items())),
        "duplicate_answers": result.duplicates,
        "tokens_in": sum(entry.tokens_in for entry in result.entries),
        "tokens_out": sum(entry.tokens_out for entry in result.entries),
        "cost": sum(entry.cost for entry in result.entries),
    }


def summary(result: Result, *, corpus: str) -> dict[str, Any]:
    """What a rewriting made and took; `corpus` is the digest of what it made."""
    return {"rewritten": len(result.texts), **counts(result), "corpus": corpus}


def write_ledger(folder: Folder, result: Result, told: Mapping[str, Any], *, seconds: float) -> None:
    """Fill a rewriting's ledger artifact: every answer without its text, `told` as its summary, the calls' seconds."""
    folder.details = dict(told)
    folder.seconds = {"calls": seconds}
    folder.write_rows("ledger.jsonl", (ledger_row(entry) for entry in result.entries))
    folder.write_json("summary.json", dict(told))


def check_quarantine(result: Result, wanted: int, *, most: float, what: str, remedy: str) -> None:
    """Fail where too many had to be quarantined; else say how many were.

    Args:
        result: of the job.
        wanted: how many texts it was given.
        most: the largest share allowed, `--max-quarantined`.
        what: the answers in one word (`rewrites`).
        remedy: what the user may do.

    Raises:
        IntegrityError: texts were lost.
        InputError: there was nothing to do, or too many are in quarantine.
    """
    if len(result.texts) + len(result.quarantined) != wanted:
        came = f"{len(result.texts)} came and {len(result.quarantined)} are quarantined"
        raise IntegrityError(f"{wanted} {what} were wanted, but {came}.")
    if not wanted:
        raise InputError("the corpus holds no record.")
    kinds = Counter(result.quarantined.values())
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(kinds.items()))
    if result.quarantined:
        say(f"{len(result.quarantined)} of {wanted} {what} quarantined ({outcomes})")
    share = len(result.quarantined) / wanted
    if share > most:
        raise InputError(
            f"{share:.1%} of the {what} had to be quarantined ({outcomes}), more than --max-quarantined "
            f"{most:.1%} allows; {remedy}"
        )
