"""Findings: one for each thing looked at, and how they are told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from leakscape.errors import InputError, LeakscapeError, TransientError


class State(StrEnum):
    """What was found.

    `UNKNOWN` is no fault: what can't be read here may still be fine.
    """

    FINE = "fine"
    MISSING = "missing"
    AWAY = "away for now"
    UNKNOWN = "not known"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Args:
        what: its kind (`model`, `secret`, `place`, `source`, `accelerator`, `disk`, `version`, `quota`).
        name: which one; never a secret's value.
        state: what was found.
        words: a sentence: what is there, or what to do.
    """

    what: str
    name: str
    state: State
    words: str


def look(what: str, name: str, ask: Callable[[], str]) -> Finding:
    """Ask, and make a finding of the answer or of the error.

    Args:
        what: see `Finding`.
        name: see `Finding`.
        ask: gives the words where all is fine; raises one of our errors, or the system's, where it is not.
    """
    try:
        return Finding(what=what, name=name, state=State.FINE, words=ask())
    except TransientError as error:
        return Finding(what=what, name=name, state=State.AWAY, words=str(error))
    except LeakscapeError as error:
        return Finding(what=what, name=name, state=State.MISSING, words=str(error))
    except OSError as error:
        words = f"{error.strerror or type(error).__name__}; check the path and the rights to it."
        return Finding(what=what, name=name, state=State.MISSING, words=words)


def judge(findings: Sequence[Finding]) -> None:
    """Pass, or fail with everything that is missing.

    Raises:
        InputError: something is missing.
        TransientError: nothing is missing, but a service is away.
    """
    missing = _lines(findings, State.MISSING)
    away = _lines(findings, State.AWAY)
    if missing:
        raise InputError("\n".join([f"{len(missing)} of what this audit needs is missing:", *missing, *away]))
    if away:
        raise TransientError("\n".join(["nothing is missing, but a service is away:", *away]))


def markdown(findings: Sequence[Finding]) -> str:
    """The findings as a page: what is missing first."""
    order = [State.MISSING, State.AWAY, State.UNKNOWN, State.FINE]
    wrong = sum(finding.state in (State.MISSING, State.AWAY) for finding in findings)
    head = "All that this audit needs is there." if not wrong else f"{wrong} of what this audit needs is not there."
    rows = [
        f"| {finding.what} | {_cell(finding.name)} | {finding.state} | {_cell(finding.words)} |"
        for finding in sorted(findings, key=lambda finding: order.index(finding.state))
    ]
    return "\n".join(["# Preflight", "", head, "", "| what | which | state | |", "|---|---|---|---|", *rows]) + "\n"


def _lines(findings: Sequence[Finding], state: State) -> list[str]:
    return [f"- {finding.what} {finding.name}: {finding.words}" for finding in findings if finding.state is state]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
