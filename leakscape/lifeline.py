"""A lifeline between a run and its step: the step ends when the run is gone, however it ended.

A run that is stopped stops its step. One that is killed (SIGKILL, a full memory) can't, and a step left alone would
write into the folder of the next run. So the run holds one end of a pipe for as long as it lives, and the step waits
for the pipe to close.
"""

import contextlib
import os
import signal
import threading
import time

VARIABLE = "LEAKSCAPE_LIFELINE"
"""The environment variable with the number of the step's end of the pipe."""

_SECONDS_TO_UNWIND = 10.0


def follow() -> None:
    """Ask this process to end once the run that started it is gone, and then end its whole process group.

    Does nothing for a process that no run has started; its children do not follow by themselves.
    """
    descriptor = os.environ.pop(VARIABLE, "")
    if descriptor.isdecimal():
        threading.Thread(target=_wait, args=(int(descriptor),), daemon=True).start()


def _wait(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.read(descriptor, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_SECONDS_TO_UNWIND)
        os.killpg(os.getpid(), signal.SIGKILL)
