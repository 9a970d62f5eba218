"""Which privacy units a lot holds, and in which pieces they pass through the model."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

import numpy as np

from leakscape.training.dp_chance import system_uniform

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leakscape.training.accounting import Schedule
    from leakscape.training.dataset import Example

UnitKind = Literal["record", "person"]
Unit = tuple["Example", ...]
"""What the guarantee is about: one record, or all records of one person. Never empty."""


def units_of(examples: Sequence[Example], kind: UnitKind) -> tuple[Unit, ...]:
    """The privacy units of a corpus, in the order of their first records.

    Args:
        examples: the corpus; a canary planted 64 times is 64 examples of one person.
        kind: `record` makes each example a unit, `person` all examples of one person.
    """
    if kind == "record":
        return tuple((example,) for example in examples)
    persons: dict[str, list[Example]] = {}
    for example in examples:
        persons.setdefault(example.person, []).append(example)
    return tuple(tuple(unit) for unit in persons.values())


def poisson_lots(plan: Schedule, *, seed: int | None) -> list[list[int]]:
    """Draw every lot of a run: each unit is in each lot by its own coin, of chance exactly `plan.sample_rate`.

    A lot may be empty. Each step has its own generator, so a resumed run draws what the uninterrupted one drew.

    Args:
        plan: how often, and with what chance.
        seed: of the coins; None for the system's entropy, which draws other lots each time.

    Returns:
        For each step the indices of its units, in rising order.
    """
    import torch

    lots = []
    for number in range(1, plan.steps + 1):
        if seed is None:
            lots.append(np.flatnonzero(system_uniform(plan.units) <= plan.sample_rate).tolist())
            continue
        generator = torch.Generator().manual_seed(derived_seed("lot", seed, number))
        coins = torch.rand(plan.units, generator=generator, dtype=torch.float64)
        lots.append(torch.nonzero(coins < plan.sample_rate).flatten().tolist())
    return lots


def micro_batches(lot: Sequence[Unit], size: int) -> Iterator[list[Unit]]:
    """Cut a lot into runs of whole units of at most `size` records together; a larger unit stands alone."""
    batch: list[Unit] = []
    records = 0
    for unit in lot:
        if batch and records + len(unit) > size:
            yield batch
            batch, records = [], 0
        batch.append(unit)
        records += len(unit)
    if batch:
        yield batch


def derived_seed(purpose: str, seed: int, number: int) -> int:
    """A seed of its own for each purpose and step, the same in every process."""
    digest = hashlib.sha256(f"leakscape/dp/{purpose}/{seed}/{number}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1
