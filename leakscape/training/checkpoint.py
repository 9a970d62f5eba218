"""Checkpoints of a run: safetensors and JSON, so that nothing is unpickled and a resumed run ends in the same bytes."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscape.artifacts import hash_file
from leakscape.errors import InputError
from leakscape.storage import Place, join, open_place
from leakscape.training.log import Step
from leakscape.training.lora import trainable
from leakscape.typed_json import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

_LETTERS = 16  # of a run's digest, in a name
_ADAPTER, _OPTIMIZER, _STATE = "adapter.safetensors", "optimizer.safetensors", "state.json"


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """Where a run keeps its state.

    Args:
        place: a folder or an S3 prefix; it holds `step-00000100.TOKEN/state.json` and the like, of the latest two. Each
            writing has a token of its own and its `state.json` comes last, so that no state is seen half-written and
            two writers never mix theirs.
        every: save after each so many steps of the optimizer.
        run: SHA-256 over all that decides the run; a state of another run is refused.
        world_size: processes that share the run; a state of another number of them is refused, since the sums would
            round differently from there on.
    """

    place: Place
    every: int
    run: str
    world_size: int = 1

    def save(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, steps: Sequence[Step]) -> None:
        """Write the state, then drop older ones.

        Raises:
            InputError: the place refuses us.
            TransientError: its service stays away.
        """
        from safetensors.torch import save_file

        target = f"step-{len(steps):08}.{uuid.uuid4().hex[:8]}"
        with tempfile.TemporaryDirectory(prefix="leakscape-") as scratch:
            made = Path(scratch)
            save_file({name: _cpu(weight) for name, weight in trainable(model).items()}, made / _ADAPTER)
            save_file(_moments(model, optimizer), made / _OPTIMIZER)
            state = {
                "run": self.run,
                "world_size": self.world_size,
                "sha256": {name: hash_file(made / name) for name in (_ADAPTER, _OPTIMIZER)},
                "steps": [dataclasses.asdict(step) for step in steps],
            }
            (made / _STATE).write_text(json.dumps(state, allow_nan=False) + "\n", encoding="utf-8", newline="\n")
            for name in (_ADAPTER, _OPTIMIZER, _STATE):
                self.place.upload(f"{target}/{name}", made / name)
        self._drop_old()

    def restore(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> list[Step]:
        """Load the latest state into the model and its optimizer, and return the steps already done.

        Raises:
            InputError: the place holds the state of another run or of another number of processes, or bytes that
                have changed.
            TransientError: its service stays away.
        """
        from safetensors.torch import load_file

        with contextlib.suppress(InputError):  # who may not list unfinished uploads can't sweep them
            self.place.sweep()
        saved = self._saved(self.place.names("step-"))
        if not saved:
            return []
        with tempfile.TemporaryDirectory(prefix="leakscape-") as scratch:
            fetched, latest = Path(scratch), saved[-1]
            self.place.download(f"{latest}/{_STATE}", fetched / _STATE)
            state = read_json(fetched / _STATE)
            self._check(state, latest)
            for name, digest in state["sha256"].items():
                try:
                    self.place.download(f"{latest}/{name}", fetched / name, sha256=digest)
                except InputError:
                    raise InputError(
                        f"{self.place}/{latest}/{name} has changed since it was written; remove {latest} and run again."
                    ) from None
            _load_weights(model, load_file(fetched / _ADAPTER))
            _load_moments(model, optimizer, load_file(fetched / _OPTIMIZER))
        return [Step(**step) for step in state["steps"]]

    def _check(self, state: Any, latest: str) -> None:  # noqa: ANN401
        if not isinstance(state, dict) or state.get("run") != self.run:
            raise InputError(
                f"{self.place} holds the checkpoints of another run: other records, another model or other settings. "
                "Move them away."
            )
        if state.get("world_size") != self.world_size:
            raise InputError(
                f"{self.place} holds the checkpoints of {state.get('world_size')} processes, but {self.world_size} "
                "would go on; train with as many as before, or give an empty --checkpoint-dir."
            )
        # A state under a wrong number would take steps, and for DP-SGD noise, that were taken already.
        if len(state["steps"]) != int(latest.removeprefix("step-").partition(".")[0]):
            raise InputError(f"{self.place}/{latest} holds another number of steps; remove it and run again.")

    def _saved(self, names: Sequence[str]) -> list[str]:
        """The states that are whole, the latest last."""
        return sorted(name.removesuffix(f"/{_STATE}") for name in names if name.endswith(f"/{_STATE}"))

    def _drop_old(self) -> None:
        """Keep the latest two states; what lies before them, whole or not, goes, its `state.json` first."""
        names = self.place.names("step-")
        oldest = self._saved(names)[-2:][0]
        old = [name for name in names if name.partition("/")[0] < oldest]
        self.place.remove(*sorted(old, key=lambda name: not name.endswith(_STATE)))


def checkpoints(place: str, *, every: int, decided: tuple[object, ...], world_size: int = 1) -> Checkpoints | None:
    """The checkpoints of a run; None where no place is named.

    Args:
        place: a folder or `s3://bucket/prefix`; '' for none. Each run has a part of it, named by all that decides the
            run, so that any number of them may share a place.
        every: save after each so many steps.
        decided: all that decides the run, in values whose `repr` tells them apart.
        world_size: processes that share the run.

    Raises:
        InputError: this is no place.
    """
    if not place:
        return None
    run = hashlib.sha256(repr(decided).encode()).hexdigest()
    return Checkpoints(place=open_place(join(place, run[:_LETTERS])), every=every, run=run, world_size=world_size)


def _cpu(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().contiguous()


def _moments(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """The optimizer's tensors, named `WEIGHT/exp_avg` and so on."""
    return {
        f"{name}/{key}": _cpu(value)
        for name, weight in trainable(model).items()
        for key, value in sorted(optimizer.state[weight].items())
    }


def _load_weights(model: torch.nn.Module, state: dict[str, torch.Tensor]) -> None:
    import torch

    weights = trainable(model)
    if weights.keys() != state.keys():
        raise InputError("The checkpoint holds other weights than this adapter has; give an empty --checkpoint-dir.")
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(state[name])


def _load_moments(model: torch.nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, torch.Tensor]) -> None:
    weights = trainable(model)
    for name, value in state.items():
        owner, _, key = name.rpartition("/")
        weight = weights[owner]
        # The step counter stays on the CPU, where torch keeps it.
        optimizer.state[weight][key] = value if key == "step" else value.to(weight.device)
