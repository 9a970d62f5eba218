"""Checkpoints of a run: safetensors and JSON, so that nothing is unpickled and a resumed run ends in the same bytes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leakscape.artifacts import hash_file
from leakscape.errors import InputError
from leakscape.training.log import Step
from leakscape.training.lora import trainable
from leakscape.typed_json import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

_ADAPTER, _OPTIMIZER, _STATE = "adapter.safetensors", "optimizer.safetensors", "state.json"


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """Where a run keeps its state.

    Args:
        folder: holds `step-00000100` and the like; the latest two are kept.
        every: save after each so many steps of the optimizer.
        run: SHA-256 over all that decides the run; a state of another run is refused.
        world_size: processes that share the run; a state of another number of them is refused, since the sums would
            round differently from there on.
    """

    folder: Path
    every: int
    run: str
    world_size: int = 1

    def save(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, steps: Sequence[Step]) -> None:
        """Write the state beside and rename it, then drop older ones."""
        from safetensors.torch import save_file

        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".step-", dir=self.folder) as beside:
            made = Path(beside) / "state"
            made.mkdir()
            save_file({name: _cpu(weight) for name, weight in trainable(model).items()}, made / _ADAPTER)
            save_file(_moments(model, optimizer), made / _OPTIMIZER)
            state = {
                "run": self.run,
                "world_size": self.world_size,
                "sha256": {name: hash_file(made / name) for name in (_ADAPTER, _OPTIMIZER)},
                "steps": [dataclasses.asdict(step) for step in steps],
            }
            (made / _STATE).write_text(json.dumps(state, allow_nan=False) + "\n", encoding="utf-8", newline="\n")
            target = self.folder / f"step-{len(steps):08}"
            shutil.rmtree(target, ignore_errors=True)
            made.rename(target)
        for old in self._saved()[:-2]:
            shutil.rmtree(old)

    def restore(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> list[Step]:
        """Load the latest state into the model and its optimizer, and return the steps already done.

        Raises:
            InputError: the folder holds the state of another run or of another number of processes, or bytes that
                have changed.
        """
        from safetensors.torch import load_file

        saved = self._saved()
        if not saved:
            return []
        latest = saved[-1]
        state = read_json(latest / _STATE)
        if not isinstance(state, dict) or state.get("run") != self.run:
            raise InputError(
                f"{self.folder} holds the checkpoints of another run: other records, another model or other settings. "
                "Each run needs a --checkpoint-dir of its own."
            )
        if state.get("world_size") != self.world_size:
            raise InputError(
                f"{self.folder} holds the checkpoints of {state.get('world_size')} processes, but {self.world_size} "
                "would go on; train with as many as before, or give an empty --checkpoint-dir."
            )
        for name, digest in state["sha256"].items():
            if not (latest / name).is_file() or hash_file(latest / name) != digest:
                raise InputError(f"{latest / name} has changed since it was written; remove {latest} and run again.")
        _load_weights(model, load_file(latest / _ADAPTER))
        _load_moments(model, optimizer, load_file(latest / _OPTIMIZER))
        return [Step(**step) for step in state["steps"]]

    def _saved(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("step-*") if (path / _STATE).is_file())


def checkpoints(folder: str, *, every: int, decided: tuple[object, ...], world_size: int = 1) -> Checkpoints | None:
    """The checkpoints of a run; None where no folder is named.

    Args:
        folder: '' for none.
        every: save after each so many steps.
        decided: all that decides the run, in values whose `repr` tells them apart.
        world_size: processes that share the run.
    """
    if not folder:
        return None
    run = hashlib.sha256(repr(decided).encode()).hexdigest()
    return Checkpoints(folder=Path(folder), every=every, run=run, world_size=world_size)


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
