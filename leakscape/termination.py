"""SIGTERM: a pod is preempted or evicted. The step unwinds, keeps what it can, and ends as transient.

Who must not be cut off in the middle (a training step, an answer that was paid for) asks for SIGTERM to be noted
instead, and ends by itself:

    with deferred() as stop:
        for ...:
            ...
            if stop.asked:
                ...
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from leakscape.errors import EXIT_TRANSIENT

GRACE = "LEAKSCAPE_GRACE_SECONDS"
"""The environment variable with the seconds a step may take to end; a little less than the pod's grace period."""

_SECONDS = 25.0


class Terminated(BaseException):
    """SIGTERM arrived: unwind, so that half-written folders are removed."""


@dataclass
class Stop:
    """Whether SIGTERM has come since the block began."""

    asked: bool = False


class _Grace:
    """The time that the process still has, once SIGTERM has come."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(float(os.environ.get(GRACE) or _SECONDS), _end)
            self._timer.daemon = True
            self._timer.start()

    def call_off(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


_graces: list[_Grace] = []


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM within the block, and end the process where that takes longer than the grace.

    Does nothing outside of the main thread, where no signal arrives.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    grace = _Grace()

    def terminate(_number: int, _frame: object) -> NoReturn:
        grace.begin()
        raise Terminated

    previous = signal.signal(signal.SIGTERM, terminate)
    _graces.append(grace)
    try:
        yield
    finally:
        _graces.remove(grace)
        signal.signal(signal.SIGTERM, previous)
        grace.call_off()


@contextlib.contextmanager
def deferred() -> Iterator[Stop]:
    """Note SIGTERM within the block instead of acting on it; where the block ends well, it is acted on then."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note(_number: int, _frame: object) -> None:
        stop.asked = True
        for grace in _graces:
            grace.begin()

    previous = signal.signal(signal.SIGTERM, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, previous)
    if stop.asked:
        signal.raise_signal(signal.SIGTERM)


def _end() -> NoReturn:
    """The grace is over. What was half-written lies hidden and is swept by the next run."""
    sys.stderr.write("leakscape: stopped by SIGTERM; the step did not end in time. Run it again.\n")
    sys.stderr.flush()
    os._exit(EXIT_TRANSIENT)
