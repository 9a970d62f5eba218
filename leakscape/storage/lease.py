"""A lease: one process at a time writes to a place, and one that was killed holds it no longer than its silence lasts.

Nobody's clock is read: who wants a lease that is held watches it for as long as a holder may be silent. A sign of life
in that time, and the lease is refused; none, and it is taken over.
"""

import contextlib
import json
import threading
import time
import uuid

from leakscape.errors import InputError, LeakscapeError, TransientError
from leakscape.progress import say
from leakscape.storage.place import AbsentError, Kept, Place, TakenError

SECONDS = 30.0
"""How long a holder may be silent."""

_NAME = "lease.json"
_SECONDS_FOR_THE_LAST_SIGN = 5.0


class Lease:
    """Held from the moment it is made until `release`; a thread gives signs of life meanwhile.

    Args:
        place: that is written to.
        seconds: how long a holder may be silent.

    Raises:
        InputError: another process holds the lease.
    """

    def __init__(self, place: Place, *, seconds: float = SECONDS) -> None:
        self._place, self._seconds = place, seconds
        self._holder, self._beats = uuid.uuid4().hex, 0
        self._lost = ""
        self._ended = threading.Event()
        self._tag = self._acquire()
        self._thread = threading.Thread(target=self._live, name="lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Nothing, while the lease is held.

        Raises:
            InputError: another process took it over, or a sign of life was refused.
        """
        if self._lost:
            raise InputError(self._lost)

    def release(self) -> None:
        """Let the next process have it at once."""
        self._ended.set()
        self._thread.join(_SECONDS_FOR_THE_LAST_SIGN)
        if not self._lost and not self._thread.is_alive():  # else its service is away, and silence ends the lease
            with contextlib.suppress(InputError, TransientError):
                self._place.replace(_NAME, _words("", 0), tag=self._tag)

    def _acquire(self) -> str:
        try:
            return self._place.create(_NAME, self._sign())
        except TakenError:
            kept = self._read()
        if _holder(kept):
            say(f"{self._place} is held by another run; waiting up to {self._seconds:.0f} s for a sign of life")
            self._watch(kept)
        try:
            return self._place.replace(_NAME, self._sign(), tag=kept.tag)
        except TakenError:
            raise self._refusal() from None

    def _watch(self, kept: Kept) -> None:
        end = time.monotonic() + self._seconds
        while (left := end - time.monotonic()) > 0:
            self._ended.wait(min(left, self._seconds / 6))
            if self._read().tag != kept.tag:
                raise self._refusal()

    def _read(self) -> Kept:
        try:
            return self._place.read(_NAME)
        except AbsentError:
            raise self._refusal() from None

    def _refusal(self) -> InputError:
        return InputError(f"{self._place} is in use by another run of the same job; wait for it to end.")

    def _live(self) -> None:
        while not self._lost and not self._ended.wait(self._seconds / 3):
            try:
                self._tag = self._give_sign()
            except TransientError:
                continue
            except TakenError:
                self._lost = f"{self._place} was taken over by another run of the same job; nothing kept there is lost."
            except LeakscapeError as error:
                self._lost = str(error)

    def _give_sign(self) -> str:
        try:
            return self._place.replace(_NAME, self._sign(), tag=self._tag)
        except TakenError:
            kept = self._read()
            if _holder(kept) == self._holder:  # the answer to an earlier sign was lost
                return kept.tag
            raise

    def _sign(self) -> bytes:
        self._beats += 1
        return _words(self._holder, self._beats)


def _words(holder: str, beats: int) -> bytes:
    return json.dumps({"holder": holder, "beats": beats}).encode()


def _holder(kept: Kept) -> str:
    try:
        found = json.loads(kept.content)
    except ValueError:
        return "unknown"
    return str(found.get("holder", "")) if isinstance(found, dict) else "unknown"
