"""The frozen base of a model in parts, one a process, by PyTorch's FSDP2 (Zhao et al. 2023).

What takes the memory is the base, and it never changes: each process keeps its part of every layer, the layers are
gathered one after the other as a pass needs them, and no gradient of theirs is ever sent. The adapter, some thousandth
of the base, stays whole on every process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leakscape.training.lora import trainable

if TYPE_CHECKING:
    from leakscape.training.world import World


def shard_base(model: Any, world: World, device: str) -> None:  # noqa: ANN401 - a PEFT model
    """Split the base over the processes, in place.

    Args:
        model: with its adapter on it, anywhere: a model that no device holds whole is read into the host's memory.
        world: who takes part; they have joined.
        device: where this process trains; the adapter and the parts are moved there.
    """
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    where = torch.device(device)
    mesh = init_device_mesh(where.type, (world.size,))
    for weight in trainable(model).values():
        weight.data = weight.data.to(where)
    whole = set(trainable(model).values())
    layers = set(getattr(model, "_no_split_modules", None) or ())
    for module in list(model.modules()):
        if type(module).__name__ in layers:
            fully_shard(module, mesh=mesh, ignored_params=whole)
    fully_shard(model, mesh=mesh, ignored_params=whole)
