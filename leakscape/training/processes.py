"""One step as several processes of one machine that train together.

Each is the same command with its rank in the environment, so it reads its settings, explains its errors and ends as
any step does. This process only watches: when one of them fails, it ends the others and fails with the same exit code.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscape import lifeline
from leakscape.contract import spec
from leakscape.errors import EXIT_FAULT, ContractError, LeakscapeError
from leakscape.progress import say
from leakscape.training.world import RANK, RENDEZVOUS, SIZE, PeerLost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_FOR_THE_REASON = 10.0
_SECONDS_TO_UNWIND = 20.0  # less than the grace of this process itself: a rank finishes its step first
_LINES = 20


class RankError(LeakscapeError):
    """A process of the training failed; the step ends with its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc]  # each instance has its own


@dataclass(frozen=True, slots=True)
class _Rank:
    process: subprocess.Popen[bytes]
    log: Path


def how_many(processes: int, device: str) -> int:
    """The number of processes that `processes` asks for: 0 is one for each accelerator that is visible.

    Raises:
        ContractError: 0 is asked for on the CPU by name.
    """
    if processes:
        return processes
    if device == "cpu":
        raise ContractError("--processes 0 is one for each accelerator, but --device is cpu; say how many.")
    import torch

    return max(1, torch.cuda.device_count())


def train_together(contract: object, size: int) -> None:
    """Run a component's step as `size` processes, and wait for all of them.

    Args:
        contract: the step's; every process gets the same arguments.
        size: how many, at least 2.

    Raises:
        RankError: one failed; its own words stand on stderr.
    """
    run_ranks([sys.executable, "-m", "leakscape", spec(contract).name, *arguments_of(contract)], size)


def run_ranks(command: Sequence[str], size: int) -> None:
    """Run a command as `size` processes that know their ranks; none of them is left when this returns.

    Raises:
        RankError: one failed.
    """
    with tempfile.TemporaryDirectory(prefix="leakscape-") as scratch, contextlib.ExitStack() as stack:
        of_ranks, own = os.pipe()
        stack.callback(os.close, own)
        ranks: list[_Rank] = []
        stack.callback(_stop, ranks)
        try:
            for rank in range(size):
                ranks.append(_start(command, _environment(rank, size, Path(scratch), of_ranks), of_ranks))  # noqa: PERF401 - what has started is stopped
        finally:
            os.close(of_ranks)
        failed = _watch(ranks)
        if failed is not None:
            _explain(failed, ranks[failed])


def arguments_of(contract: object) -> list[str]:
    """A contract as the command line that gives it."""
    words: list[str] = []
    for field in spec(contract).fields:
        value = getattr(contract, field.name)
        if isinstance(value, tuple):
            words += [field.flag, *map(str, value)] if value else []
        else:
            words.append(f"{field.flag}={_text(value)}")
    return words


def _text(value: Any) -> str:  # noqa: ANN401
    return str(value) if isinstance(value, str | Path) else json.dumps(value, ensure_ascii=False)


def _start(command: Sequence[str], environment: Mapping[str, str], of_ranks: int) -> _Rank:
    """Start one process in a group of its own; the first one speaks for all, the others are heard if they fail."""
    log = Path(environment[RENDEZVOUS]).with_name(f"rank-{environment[RANK]}.log")
    first = environment[RANK] == "0"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=None if first else subprocess.DEVNULL,
            stderr=None if first else stream,
            env={**os.environ, **environment},
            start_new_session=True,
            pass_fds=(of_ranks,),
        )
    return _Rank(process, log)


def _environment(rank: int, size: int, scratch: Path, of_ranks: int) -> Mapping[str, str]:
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, (os.cpu_count() or 1) // size))
    return {
        RANK: str(rank),
        SIZE: str(size),
        RENDEZVOUS: str(scratch / "rendezvous"),
        lifeline.VARIABLE: str(of_ranks),
        "OMP_NUM_THREADS": threads,
    }


def _watch(ranks: Sequence[_Rank]) -> int | None:
    """Wait until all have ended well (None) or one has failed (its rank).

    One that only lost another ends too, often first: the one that failed by itself is waited for.
    """
    patience: float | None = None
    while True:
        codes = [rank.process.poll() for rank in ranks]
        failed = [number for number, code in enumerate(codes) if code]
        own = [number for number in failed if codes[number] != PeerLost.exit_code]
        if own or (failed and None not in codes):
            return (own or failed)[0]
        if failed:
            patience = patience or time.monotonic() + _SECONDS_FOR_THE_REASON
            if time.monotonic() > patience:
                return failed[0]
        if not any(code is None for code in codes):
            return None
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _stop(ranks: Sequence[_Rank]) -> None:
    """End all with everything that they started: politely first, so that half-written folders go."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        running = [rank.process for rank in ranks if rank.process.poll() is None]
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        last = time.monotonic() + _SECONDS_TO_UNWIND
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, last - time.monotonic()))


def _explain(number: int, rank: _Rank) -> None:
    code = rank.process.returncode
    for line in rank.log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES:]:
        say(line)
    if code < 0:
        raise RankError(
            f"process {number} of the training was ended by signal {-code}; if it was 9, the memory may have run out.",
            128 - code,
        )
    raise RankError(
        f"process {number} of the training failed with exit code {code}.",
        EXIT_FAULT if code == PeerLost.exit_code else code,
    )
