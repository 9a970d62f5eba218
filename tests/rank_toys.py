"""One of several processes that train a toy together: `python rank_toys.py FOLDER`, its place in the environment.

FOLDER/runs.json lists the runs; rank 0 writes FOLDER/NAME.json with the steps and FOLDER/NAME/ with the adapter.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toys
from corpora import records

from leakscape import lifeline
from leakscape.errors import InputError, LeakscapeError
from leakscape.models.adapters import save_adapter
from leakscape.models.load import assemble
from leakscape.storage import open_place
from leakscape.training.checkpoint import Checkpoints
from leakscape.training.dataset import tokenise_corpus
from leakscape.training.loop import LoopSettings, enable_gradient_checkpointing, train
from leakscape.training.lora import LoraSettings, add_lora
from leakscape.training.sharding import shard_base
from leakscape.training.world import World, joined, placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leakscape.training.dataset import Example
    from leakscape.training.log import Step

RECORDS = 6


class Killed(Exception):  # noqa: N818  # stands in for a signal
    pass


def settings(run: dict[str, Any], size: int) -> LoopSettings:
    return LoopSettings(
        learning_rate=1e-2,
        batch_size=run.get("batch_size", 2),
        accumulation=run.get("accumulation", 1),
        world_size=size,
        seed=3,
    )


def work(run: dict[str, Any], world: World, folder: Path) -> None:
    """Train as a run says and write what came of it."""
    loaded = assemble(*toys.toy(run["architecture"]), name="toy")
    dataset = tokenise_corpus(loaded, records(RECORDS), max_tokens=256)
    model = add_lora(loaded.model, LoraSettings(rank=4, dropout=run.get("dropout", 0.0)))
    if run.get("gradient_checkpointing"):
        enable_gradient_checkpointing(model)
    if run.get("sharding") == "fsdp":
        shard_base(model, world, "cpu")
    told = trained(model, dataset.examples, run, world, folder)
    if world.writes:
        (folder / run["name"]).mkdir()
        save_adapter(model, folder / run["name"], base="toy")
        (folder / f"{run['name']}.json").write_text(json.dumps(told))


def trained(
    model: Any,  # noqa: ANN401
    examples: Sequence[Example],
    run: dict[str, Any],
    world: World,
    folder: Path,
) -> dict[str, Any]:
    """The steps of a run, or how it ended."""
    kept = None
    if "checkpoints" in run:
        kept = Checkpoints(
            place=open_place(str(folder / run["checkpoints"])), every=1, run="run", world_size=world.size
        )

    def after(step: Step) -> None:
        if step.step == run.get("stops_at"):
            raise Killed
        if step.step == run.get("dies_at") and world.rank == 1:
            os._exit(9)

    try:
        steps = train(
            model, examples, settings(run, world.size), pad_id=0, checkpoints=kept, world=world, on_step=after
        )
    except Killed:
        return {"killed": True}
    except InputError as error:
        return {"error": str(error)}
    return {"steps": [asdict(step) for step in steps]}


def main() -> int:
    """Every run, one after the other."""
    lifeline.follow()
    folder, world = Path(sys.argv[1]), placed() or World()
    try:
        with joined(world, "cpu"):
            for run in json.loads((folder / "runs.json").read_text()):
                work(run, world, folder)
    except LeakscapeError as error:
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
