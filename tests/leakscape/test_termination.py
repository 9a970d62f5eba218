import os
import signal
import subprocess
import sys
import threading

import pytest

from leakscape.termination import Terminated, deferred, unwinding


def terminate() -> None:
    signal.raise_signal(signal.SIGTERM)


def test_sigterm_unwinds_and_the_handler_before_is_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), unwinding():
        terminate()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_deferred_signal_is_noted_and_acted_on_at_the_end() -> None:
    done: list[object] = []

    def work() -> None:
        with unwinding():
            with deferred() as stop:
                assert not stop.asked
                terminate()
                done.append(stop.asked)
            done.append("unreachable")

    with pytest.raises(Terminated):
        work()
    assert done == [True]


def test_blocks_within_each_other_all_learn_of_it() -> None:
    heard: list[bool] = []

    def work() -> None:
        with unwinding(), deferred() as outer:
            with deferred() as inner:
                terminate()
            heard.extend((inner.asked, outer.asked))

    with pytest.raises(Terminated):
        work()
    assert heard == [True, True]


def test_a_block_that_ends_by_itself_is_left_to_its_own_error() -> None:
    def work() -> None:
        with unwinding(), deferred():
            terminate()
            raise ValueError("own")

    with pytest.raises(ValueError, match="own"):
        work()


def test_other_threads_are_left_alone() -> None:
    heard = []

    def work() -> None:
        with unwinding(), deferred() as stop:
            heard.append(stop.asked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert heard == [False]


STUCK = """
import signal, time
from leakscape.termination import deferred, unwinding
with unwinding(), deferred():
    signal.raise_signal(signal.SIGTERM)
    while True:
        time.sleep(0.01)
"""


def test_a_step_that_does_not_end_in_time_is_ended_as_transient() -> None:
    env = os.environ | {"LEAKSCAPE_GRACE_SECONDS": "0.05"}
    done = subprocess.run([sys.executable, "-c", STUCK], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 75
    assert "did not end in time" in done.stderr
