"""Values as sequences of words, so that case, accents, punctuation and spacing hide nothing.

    words("O'Brien, Zoë; 912-45-6789")  ->  obrien zoe 912 45 6789

A value survives in a text if one of its forms stands there, word by word. Forms are other ways to write the very same
value: a date with the month in letters, a number without separators, a name with the family name first.
"""

import calendar
import datetime as dt
import re
import unicodedata
from collections.abc import Iterator

Phrase = tuple[str, ...]

_WORD = re.compile(r"\d+|[^\W\d_]+")
_APOSTROPHES = str.maketrans("", "", "'\u2019\u02bc`\u00b4")
_AMOUNT = re.compile(r"\s*\d+(?:\.\d+)?\s+[A-Z]+\s+")  # RxNorm begins with it: "24 HR", "0.3 ML", "60 ACTUAT"
_TAG = re.compile(r"\s*\([^()]*\)$")  # "(disorder)", the class that SNOMED CT puts behind a name


def words(text: str) -> list[str]:
    """The words and numbers of a text: lower case, without accents; `10mg` is two words."""
    text = text.translate(_APOSTROPHES)
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(character for character in decomposed if not unicodedata.combining(character))
    return _WORD.findall(text.casefold())


def forms(field: str, value: str) -> tuple[Phrase, ...]:
    """The ways in which the value of a record's field may be written; the first is its own.

    Empty where the value holds no word.
    """
    own = tuple(words(value))
    if not own:
        return ()
    others = {"birth_date": _dates, "ssn": _numbers, "name": _names, "problems": _untagged}.get(field)
    return tuple(dict.fromkeys((own, *(others(value, own) if others else ()))))


def gist(field: str, value: str) -> Phrase:
    """The words that state a clinical fact at its shortest: a problem without its class, a drug without its strength.

    Of a combination it is the first substance. `24 HR metFORMIN hydrochloride 750 MG Tablet` -> metformin
    hydrochloride.
    """
    if field == "problems":
        return forms(field, value)[-1] if words(value) else ()
    own = words(_AMOUNT.sub("", value, count=1) if _AMOUNT.match(value) else value)
    start = next((place for place, word in enumerate(own) if not word.isdigit()), 0)
    end = next((place for place, word in enumerate(own) if place > start and word.isdigit()), len(own))
    return tuple(own[start:end]) or tuple(own)


def sentence(text: str) -> str:
    """A text in the form in which `stands_in` looks for phrases."""
    return f" {' '.join(words(text))} "


def stands_in(phrase: Phrase, sentence: str) -> bool:
    """Whether a phrase stands in a `sentence`, whole word by whole word."""
    return bool(phrase) and f" {' '.join(phrase)} " in sentence


def _dates(value: str, _: Phrase) -> Iterator[Phrase]:
    try:
        date = dt.date.fromisoformat(value)
    except ValueError:
        return
    year, name = str(date.year), calendar.month_name[date.month].lower()
    months = dict.fromkeys((str(date.month), f"{date.month:02d}"))
    days = dict.fromkeys((str(date.day), f"{date.day:02d}"))
    for day in days:
        for month in months:
            yield from ((year, month, day), (month, day, year), (day, month, year))
        for month in (name, name[:3]):
            yield from ((month, day, year), (day, month, year), (month, day, _ending(date.day), year))
            yield (day, _ending(date.day), month, year)


def _ending(day: int) -> str:
    teens = range(11, 14)
    return "th" if day in teens else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _numbers(_: str, own: Phrase) -> Iterator[Phrase]:
    yield ("".join(own),)


def _names(_: str, own: Phrase) -> Iterator[Phrase]:
    full = tuple(word for word in own if len(word) > 1)
    for name in (own, full):
        if len(name) > 1:
            yield from (name, (name[-1], *name[:-1]))


def _untagged(value: str, _: Phrase) -> Iterator[Phrase]:
    if without := tuple(words(_TAG.sub("", value))):
        yield without
