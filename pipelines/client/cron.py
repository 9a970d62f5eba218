"""Schedules in the server's dialect of cron: six fields, seconds first."""

import datetime as dt
import re

from leakscape.errors import InputError

_FIELDS = ("second", "minute", "hour", "day of month", "month", "day of week")
_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat"
_ATOM = rf"(?:\d{{1,2}}|{_NAMES})"
_PART = re.compile(rf"(?:\*|\?|{_ATOM}(?:-{_ATOM})?)(?:/\d{{1,2}})?", re.IGNORECASE)
_DAY_OF_WEEK = 5
_EXAMPLE = '"0 0 3 * * *" is each day at three'


def check(expression: str) -> str:
    """Give the expression, its fields parted by one space.

    Raises:
        InputError: it has not six fields, a field does not fit, or it never comes due.
    """
    from croniter import croniter

    fields = expression.split()
    if len(fields) != len(_FIELDS):
        raise InputError(
            f"a schedule has six fields ({', '.join(_FIELDS)}), not {len(fields)}: {_EXAMPLE}; put a 0 for the second "
            "before a schedule of five."
        )
    for number, (name, field) in enumerate(zip(_FIELDS, fields, strict=True)):
        alone = ["*"] * len(_FIELDS)
        alone[number] = field.replace("?", "*")
        wrong = not all(_PART.fullmatch(part) for part in field.split(","))
        beyond = number == _DAY_OF_WEEK and "7" in re.split(r"[,/-]", field)
        if wrong or beyond or not croniter.is_valid(" ".join(alone), second_at_beginning=True):
            raise InputError(f"the {name} of the schedule is {field!r}, which does not fit; {_EXAMPLE}.")
    plain = " ".join(fields).replace("?", "*")
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    try:
        croniter(plain, start, second_at_beginning=True, max_years_between_matches=8).get_next(dt.datetime)
    except (ValueError, KeyError):
        raise InputError(f"the schedule {expression!r} never comes due; {_EXAMPLE}.") from None
    return " ".join(fields)
