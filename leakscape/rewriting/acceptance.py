"""Which answers count: those that ended by themselves, are not empty and do not decline."""

import re
from typing import Literal

from leakscape.rewriting.backend import Answer

Outcome = Literal["accepted", "truncated", "empty", "refused", "failed", "invalid"]
"""`invalid`: a whole answer that has not the form asked for."""

# How assistants begin when they decline. Only the beginning is looked at: a record may well say "cannot" later on.
_REFUSAL = re.compile(
    r"""^\W*(?:
        (?:i['\u2019]?m|i\sam|we['\u2019]?re)\s+(?:very\s+|so\s+)?sorry | sorry,?\s+(?:but\s+)?i |  # an apology
        i\s+(?:can(?:['\u2019]?t|not)|won['\u2019]?t|am\s+not\s+able|am\s+unable) |  # "I can't help with that"
        i['\u2019]m\s+(?:not\s+able|unable) |
        as\s+an\s+ai\b | unfortunately,?\s+i\s | i\s+must\s+(?:decline|refuse)
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def judge(answer: Answer) -> Outcome:
    """Decide what an answer is worth."""
    if answer.finish == "error":
        return "failed"
    if answer.finish == "refusal":
        return "refused"
    if answer.finish == "length":
        return "truncated"
    if not answer.text.strip():
        return "empty"
    if not _is_unicode(answer.text):
        return "failed"
    return "refused" if _REFUSAL.match(answer.text.strip()[:200]) else "accepted"


def _is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8: a lone surrogate, left by half a character, can't."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
