"""Progress of long work: a bar on a terminal, a plain line now and then in a pod."""

import re
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_SECONDS_BETWEEN_LINES = 15.0


def track(items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
    """Pass items on and show how far the work is, on stderr.

    Args:
        items: what is worked through.
        total: how many there are.
        what: two or three words (`training`, `scoring canaries`); never anything of a record.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track as rich_track

        yield from rich_track(items, description=what, total=total, console=Console(stderr=True), transient=True)
    else:
        yield from _lines(items, total=total, what=what)


def say(line: str) -> None:
    """Print one line about the work on stderr, if there is one: print would take stdout in its place."""
    if sys.stderr is None:
        return
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def printable(words: str) -> str:
    """Words of others as one line that neither a terminal nor a CI system's log takes for a command."""
    return "".join(letter if letter.isprintable() else "?" for letter in re.sub(r"[\t\n\v\f\r]+", " ", words))


def _lines(items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
    started = last = time.monotonic()
    done = 0
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            say(f"{what}: {done} of {total}, {now - started:.0f} s")
    say(f"{what}: {done} of {total} done in {time.monotonic() - started:.1f} s")
