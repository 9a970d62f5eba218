"""What is wrong with a plan, collected so that one reading names all of it."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from leakscape.errors import PlanError
from pipelines.source import Place, Source, dotted

_MOST_SHOWN = 10


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: where, and a sentence that goes on after the place (`must be at least 1, not 0.`)."""

    place: Place
    sentence: str


def refuse(source: Source, faults: Sequence[Fault]) -> NoReturn:
    """Raise the faults as one error, in reading order, a line each."""
    ordered = sorted(faults, key=lambda fault: source.order(fault.place))
    lines = [
        f"{source.where(fault.place)}: {dotted(fault.place) or 'the plan'} {fault.sentence}"
        for fault in ordered[:_MOST_SHOWN]
    ]
    if len(ordered) > _MOST_SHOWN:
        lines.append(f"{len(ordered) - _MOST_SHOWN} more faults are not shown.")
    raise PlanError("\n".join(lines))


def choose(word: str, known: Iterable[str], *, all_of_them: bool = False) -> str:
    """Help with a word that is none of `known`: the nearest one, or all."""
    names = list(known)
    nearest = difflib.get_close_matches(word, names, n=1)
    if nearest and not all_of_them:
        return f"did you mean `{nearest[0]}`?"
    return f"there are {', '.join(names)}." if names else "there are none."
