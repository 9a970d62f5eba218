"""Social security numbers that nobody has, each stream of people with a part of its own.

Areas from 900 up were never issued as SSN (Social Security Administration, POMS RM 10201.035), and groups 01 to 49 of
them not as taxpayer number (ITIN) either. Area 999 is left to Synthea, whose people all carry it.

The numbers are scattered by a fixed permutation and then cut into equal slots, one a stream. So streams can't meet,
whatever their seeds, and a number does not show which stream it came from: a model that tells training people from
held-out people can't do so by their SSN.
"""

from collections.abc import Callable

from leakscape.errors import InputError
from leakscape.records.draws import Permutation

STREAMS = ("train", "held-out", "exemplars", "pretrain", "auxiliary", "test")
"""Append new ones at the end: a stream's place is its slot."""

_AREAS, _GROUPS, _SERIALS = 99, 49, 9999
_FIRST_AREA = 900
_SLOTS = 16
_SPACE = _AREAS * _GROUPS * _SERIALS

CAPACITY = _SPACE // _SLOTS
"""Numbers, and so people, that a stream holds."""


def numbers(stream: str, seed: int) -> Callable[[int], str]:
    """The SSN of a stream's person 0, 1, ... `CAPACITY` - 1: no two alike.

    Raises:
        InputError: there is no such stream.
    """
    if stream not in STREAMS:
        raise InputError(f"There is no stream {stream!r} of people: choose one of {', '.join(STREAMS)}.")
    scatter = Permutation(_SPACE, "ssn")
    order = Permutation(CAPACITY, "ssn", stream, seed)
    first = STREAMS.index(stream) * CAPACITY

    def number(index: int) -> str:
        rest, serial = divmod(scatter(first + order(index)), _SERIALS)
        area, group = divmod(rest, _GROUPS)
        return f"{_FIRST_AREA + area}-{group + 1:02}-{serial + 1:04}"

    return number
