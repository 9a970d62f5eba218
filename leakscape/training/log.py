"""What a training run says of itself: one line a step, a summary, a loss curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leakscape import artifacts, schemas

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from leakscape.artifacts import Folder, Provenance
    from leakscape.models.load import LoadedModel
    from leakscape.training.dataset import Dataset

_WIDTH, _HEIGHT, _MARGIN = 640, 320, 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the optimizer.

    Args:
        step: its number, from 1.
        epoch: in which it fell, from 1.
        loss: mean over the targets of the effective batch, in nats; None where it had none.
        tokens: the targets of the effective batch.
        learning_rate: that was applied.
        gradient_norm: before clipping; None where it was not measured.
        units: privacy units that the lot drew; None where there are no lots.
    """

    step: int
    epoch: int
    loss: float | None
    tokens: int
    learning_rate: float
    gradient_norm: float | None = None
    units: int | None = None


def run_facts(loaded: LoadedModel, dataset: Dataset, *, world_size: int = 1, sharding: str = "none") -> dict[str, Any]:
    """What a summary says of any run: the model, the instances, and where, how and by how many it was computed."""
    return {
        "model": loaded.name,
        "instances": len(dataset.examples),
        "truncated": dataset.truncated,
        "targets_an_epoch": dataset.targets,
        "world_size": world_size,
        "sharding": sharding,
        "precision": loaded.dtype,
        "device": loaded.device.partition(":")[0],
        "deterministic": loaded.device == "cpu",
        "chat": loaded.chat,
        "frozen_date": loaded.frozen_date,
        "tokenizer_hash": loaded.tokenizer_hash,
    }


def write_run(
    adapter: Path,
    log: Path,
    *,
    made: Provenance,
    save: Callable[[Path], None],
    steps: Sequence[Step],
    summary: Mapping[str, Any],
    seconds: float,
) -> None:
    """Write the adapter and the log as artifacts: both, or neither.

    Args:
        adapter: where the adapter goes.
        log: where the log goes; its manifest names the adapter's digest.
        made: the provenance of both.
        save: writes the adapter's files into a folder.
        steps: every step.
        summary: see `write_log`.
        seconds: that training took.
    """
    wanted = {adapter: schemas.ADAPTER, log: schemas.TRAINING_LOG}
    with artifacts.create_all(wanted, provenance=made) as (weights, told):
        weights.seconds["wall"] = told.seconds["wall"] = seconds
        save(weights.path)
        told.details["adapter"] = weights.finish().digest
        write_log(told, steps, summary)


def write_log(folder: Folder, steps: Sequence[Step], summary: Mapping[str, Any]) -> None:
    """Write `steps.jsonl`, `summary.json` and `loss.svg`; the summary gains the number of steps and two losses."""
    losses = [step.loss for step in steps if step.loss is not None]
    ends = {"loss_first": losses[0], "loss_last": losses[-1]} if losses else {}
    folder.write_rows("steps.jsonl", steps)
    folder.write_json("summary.json", {**summary, **ends, "steps": len(steps), "tokens": sum(s.tokens for s in steps)})
    (folder.path / "loss.svg").write_text(loss_curve(losses), encoding="utf-8", newline="\n")


def loss_curve(losses: Sequence[float]) -> str:
    """An SVG of the loss over the steps, without a plotting library: the training image has none."""
    top = max(losses, default=1.0) or 1.0
    across = (_WIDTH - 2 * _MARGIN) / max(1, len(losses) - 1)
    down = (_HEIGHT - 2 * _MARGIN) / top
    points = " ".join(
        f"{_MARGIN + across * index:.1f},{_HEIGHT - _MARGIN - down * loss:.1f}" for index, loss in enumerate(losses)
    )
    left, bottom = _MARGIN, _HEIGHT - _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>Loss per step</title>'
        f'<path d="M{left} {_MARGIN}V{bottom}H{_WIDTH - _MARGIN}" fill="none" stroke="#888"/>'
        f'<text x="{left - 6}" y="{_MARGIN + 4}" text-anchor="end">{top:.2f}</text>'
        f'<text x="{left - 6}" y="{bottom + 4}" text-anchor="end">0</text>'
        f'<text x="{_WIDTH - _MARGIN}" y="{bottom + 18}" text-anchor="end">step {len(losses)}</text>'
        f'<text x="{left}" y="{_MARGIN - 14}">loss, nats a token</text>'
        f'<polyline points="{points}" fill="none" stroke="#1f6feb" stroke-width="1.5"/></svg>\n'
    )
