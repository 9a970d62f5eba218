"""One judgement, and the strict reading of a model's answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leakscape.rewriting import acceptance
from leakscape.rewriting.acceptance import Outcome
from leakscape.rewriting.backend import Answer

LOWEST, HIGHEST = 1, 5

REASONS = ("none", "identifier", "rare-value", "combination", "fact-lost", "fact-changed", "form")
"""What cost a record most: nothing; an identifier or a rare value that is left; several ordinary details that together
still single the patient out; a common fact that is gone or another; a text that is no patient record any more."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "privacy": {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))},
        "quality": {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))},
        "reason": {"type": "string", "enum": list(REASONS)},
    },
    "required": ["privacy", "quality", "reason"],
    "additionalProperties": False,
}
"""What a model's answer has to fit, in the subset of JSON Schema that services hold models to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a rewritten record is worth.

    Args:
        id: the rewritten record's.
        person: the person it belongs to.
        privacy: 1 (gives the patient away) to 5 (says nothing that singles the patient out); None where the source
            holds nothing to protect.
        quality: 1 (teaches nothing of what the source taught) to 5 (all of it); None where the source holds no common
            fact.
        reason: one of `REASONS`.
    """

    id: str
    person: str
    privacy: float | None
    quality: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Scores:
    """A model's answer, read."""

    privacy: int
    quality: int
    reason: str


def read(text: str) -> Scores | None:
    """Read a model's answer; None unless it is exactly one object as `SCHEMA` has it.

    A code fence around the object is taken off, since models that are not held to a schema like to add one.
    """
    lines = text.strip().splitlines()
    if len(lines) > 2 and lines[0] in ("```", "```json") and lines[-1] == "```":  # noqa: PLR2004 - fence, body, fence
        text = "\n".join(lines[1:-1])
    try:
        pairs = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return None
    if not isinstance(pairs, tuple) or sorted(key for key, _ in pairs) != sorted(SCHEMA["required"]):
        return None
    answer = dict(pairs)
    fits = all(type(answer[key]) is int and LOWEST <= answer[key] <= HIGHEST for key in ("privacy", "quality"))
    if not fits or answer["reason"] not in REASONS:
        return None
    return Scores(**answer)


def accept(answer: Answer) -> Outcome:
    """Decide what an answer is worth: one that ended by itself but does not fit is `invalid`."""
    outcome = acceptance.judge(answer)
    return "invalid" if outcome == "accepted" and read(answer.text) is None else outcome
