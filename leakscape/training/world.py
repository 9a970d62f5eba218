"""The processes that train one adapter together, as one of them sees them.

Each holds the whole adapter and passes its share of every effective batch. The gradients are added up, not averaged:
a piece's loss is divided by the targets of the whole effective batch, wherever they passed, so the sum over the
processes is the gradient that one process alone would have.
"""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from leakscape.errors import ContractError, IntegrityError, LeakscapeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

T = TypeVar("T")

RANK, SIZE, RENDEZVOUS = "LEAKSCAPE_RANK", "LEAKSCAPE_WORLD_SIZE", "LEAKSCAPE_RENDEZVOUS"
"""The variables by which `leakscape.training.processes` tells a process its place."""

_PATIENCE = timedelta(minutes=30)  # for the slowest process at a meeting point, such as after loading the model


class PeerLost(LeakscapeError):  # noqa: N818 - a loss is what it is
    """Another process of the training has ended; the reason is its own, not ours."""

    exit_code = 70


@dataclass(frozen=True, slots=True)
class World:
    """A process's place: `rank`, from 0, of `size` processes. Rank 0 writes what is to be kept."""

    rank: int = 0
    size: int = 1

    @property
    def writes(self) -> bool:
        """Whether this process writes checkpoints and artifacts."""
        return self.rank == 0

    def share(self, pieces: Sequence[list[T]]) -> list[list[T]]:
        """This process's pieces of a step: every `size`-th, from its rank; all get as many, the last may be empty."""
        mine = list(pieces[self.rank :: self.size])
        return [*mine, *[[] for _ in range(math.ceil(len(pieces) / self.size) - len(mine))]]

    def add_up(self, value: float) -> float:
        """The sum of a figure over all processes."""
        if self.size == 1:
            return value
        import torch

        total = torch.tensor([value], dtype=torch.float64, device=_device())
        self._sum(total)
        return float(total)

    def any(self, answer: bool) -> bool:
        """Whether any process says yes; all of them hear the same."""
        return self.add_up(float(answer)) > 0

    def add_gradients(self, weights: Sequence[torch.nn.Parameter]) -> None:
        """Replace each gradient by its sum over all processes; one that no process has stays None."""
        if self.size == 1:
            return
        import torch

        has = torch.tensor([float(weight.grad is not None) for weight in weights], device=weights[0].device)
        parts = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
        whole = torch.cat([has, *(part.flatten() for part in parts)])
        self._sum(whole)
        counts = whole[: len(weights)].tolist()
        sums = torch.split(whole[len(weights) :], [part.numel() for part in parts])
        for weight, count, total in zip(weights, counts, sums, strict=True):
            weight.grad = total.view_as(weight).clone() if count else None

    def check_same(self, weights: Sequence[torch.nn.Parameter]) -> None:
        """Hold the processes' adapters against each other.

        Raises:
            IntegrityError: they differ.
        """
        if self.size == 1:
            return
        import torch

        # Equal weights have equal sums, added up in the same order.
        sums = [float(weight.detach().double().square().sum()) for weight in weights]
        mine = torch.tensor(sums, dtype=torch.float64, device=_device())
        most, least = mine.clone(), mine.clone()
        with _lost():
            torch.distributed.all_reduce(most, op=torch.distributed.ReduceOp.MAX)
            torch.distributed.all_reduce(least, op=torch.distributed.ReduceOp.MIN)
        if not torch.equal(most, least):
            raise IntegrityError("The processes ended with different adapters; nothing was written.")

    def _sum(self, tensor: torch.Tensor) -> None:
        import torch

        with _lost():
            torch.distributed.all_reduce(tensor)


ALONE = World()


def placed() -> World | None:
    """This process's place as its environment states it; None for a process that was not started to share a run."""
    if RANK not in os.environ:
        return None
    return World(rank=int(os.environ[RANK]), size=int(os.environ[SIZE]))


def device_of(device: str, world: World) -> str:
    """Where a process trains: each one on an accelerator of its own, or all on the CPU.

    Raises:
        ContractError: one device is named for several processes, or there are fewer accelerators than processes.
    """
    if world.size == 1:
        return device
    import torch

    if device not in ("auto", "cpu", "cuda"):
        raise ContractError(
            f"--device {device} is one device, but {world.size} processes need one each; leave it auto."
        )
    if device == "cpu" or (device == "auto" and not torch.cuda.is_available()):
        return "cpu"
    if torch.cuda.device_count() < world.size:
        raise ContractError(
            f"--processes {world.size} needs as many accelerators, but {torch.cuda.device_count()} are visible."
        )
    return f"cuda:{world.rank}"


@contextlib.contextmanager
def joined(world: World, device: str) -> Iterator[None]:
    """Meet the other processes, and part from them in the end.

    Args:
        world: this process's place.
        device: where it trains; CUDA devices talk by NCCL, the CPU by gloo.

    Raises:
        PeerLost: another process has ended.
    """
    if world.size == 1:
        yield
        return
    import torch

    where = torch.device(device)
    if where.type == "cuda":
        torch.cuda.set_device(where)
    with _lost():
        torch.distributed.init_process_group(
            "nccl" if where.type == "cuda" else "gloo",
            init_method=f"file://{os.environ[RENDEZVOUS]}",
            rank=world.rank,
            world_size=world.size,
            timeout=_PATIENCE,
            device_id=where if where.type == "cuda" else None,
        )
    try:
        with _lost():
            yield
            torch.distributed.barrier()  # none leaves while another still waits for it
    finally:
        torch.distributed.destroy_process_group()


def _device() -> str:
    import torch

    return "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"


@contextlib.contextmanager
def _lost() -> Iterator[None]:
    """Tell an error that came of another process from our own."""
    import torch

    try:
        yield
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        if isinstance(error, torch.distributed.DistError) or "gloo" in str(error).lower():
            raise PeerLost("another process of this training has ended.") from None
        raise
