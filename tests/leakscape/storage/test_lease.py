"""The lease: refused while its holder lives, taken over once it is silent."""

import threading
from pathlib import Path

import pytest
from s3_server import S3Server

from leakscape.errors import InputError
from leakscape.storage import Place, TakenError, open_place
from leakscape.storage.lease import Lease


class Killed(Lease):
    """A holder that gives no sign of life."""

    def _live(self) -> None:
        self._ended.wait()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return open_place(str(tmp_path))


def test_a_live_holder_keeps_others_away_and_a_released_lease_is_had_at_once(place: Place) -> None:
    first = Lease(place, seconds=0.3)
    with pytest.raises(InputError, match="in use by another run of the same job"):
        Lease(place, seconds=600.0 / 1000)
    first.check()
    first.release()
    second = Lease(place, seconds=600.0)  # ten minutes of watching, had it to watch
    second.release()


def test_a_silent_holder_loses_the_lease_and_learns_of_it(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    killed = Killed(place, seconds=0.1)
    heir = Lease(place, seconds=0.1)
    assert "waiting up to 0 s for a sign of life" in capsys.readouterr().err
    heir.check()
    # The holder that was thought dead gives its sign after all, and is told.
    Lease._live(killed)
    with pytest.raises(InputError, match="was taken over by another run"):
        killed.check()
    killed.release()
    heir.check()
    heir.release()
    Lease(place, seconds=600.0).release()


def test_of_many_that_wait_one_inherits(place: Place) -> None:
    Killed(place, seconds=0.2)
    barrier, had, refused = threading.Barrier(5), [], []

    def want() -> None:
        barrier.wait()
        try:
            had.append(Lease(place, seconds=0.2))
        except InputError:
            refused.append(1)

    threads = [threading.Thread(target=want) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(had), len(refused)) == (1, 4)
    had[0].release()


def test_a_sign_whose_answer_was_lost_is_known_again(place: Place) -> None:
    lease = Killed(place, seconds=600.0)
    place.replace("lease.json", lease._sign(), tag=lease._tag)
    lease._tag = lease._give_sign()
    lease._give_sign()
    lease.check()
    lease.release()


def test_a_damaged_lease_is_waited_for_too(place: Place) -> None:
    place.create("lease.json", b"no json")
    Lease(place, seconds=0.05).release()


@pytest.mark.integration
def test_a_lease_on_s3(s3: S3Server) -> None:
    text = s3.place("lease")
    first = Lease(open_place(text), seconds=0.5)
    with pytest.raises(InputError, match="in use by another run"):
        Lease(open_place(text), seconds=1.0)
    first.release()
    killed = Killed(open_place(text), seconds=0.1)
    heir = Lease(open_place(text), seconds=0.1)
    with pytest.raises(TakenError):
        open_place(text).replace("lease.json", b"", tag=killed._tag)
    heir.release()
