"""Expected values: the definition of Poisson sampling, and partitions counted by hand."""

import math
import subprocess
import sys

from dp_toys import examples
from hypothesis import given
from hypothesis import strategies as st

from leakscape.training.accounting import Schedule, schedule
from leakscape.training.dp_lots import derived_seed, micro_batches, poisson_lots, units_of


def test_each_copy_is_a_unit_of_its_own_or_its_persons() -> None:
    made = examples(6, persons=["a", "b", "a", "c", "b", "a"])
    assert units_of(made, "record") == tuple((example,) for example in made)
    persons = units_of(made, "person")
    assert [[example.id for example in unit] for unit in persons] == [["r-0", "r-2", "r-5"], ["r-1", "r-4"], ["r-3"]]


# lot 64 of 300: exactly 64/300, where an engine with whole batches would take 1 / ceil(300 / 64) = 1/5 (lot 60)
def test_rate_is_exact() -> None:
    plan = Schedule(units=300, sample_rate=64 / 300, steps=2000)
    sizes = [len(lot) for lot in poisson_lots(plan, seed=4)]
    deviation = math.sqrt(300 * (64 / 300) * (1 - 64 / 300))
    mean = sum(sizes) / len(sizes)
    assert abs(mean - 64) < 4 * deviation / math.sqrt(len(sizes))
    variance = sum((size - mean) ** 2 for size in sizes) / len(sizes)
    assert abs(variance / deviation**2 - 1) < 0.15


def test_every_unit_has_the_same_chance_on_its_own() -> None:
    lots = poisson_lots(Schedule(units=5, sample_rate=0.3, steps=4000), seed=1)
    for unit in range(5):
        drawn = sum(unit in lot for lot in lots)
        assert abs(drawn - 1200) < 4 * math.sqrt(4000 * 0.3 * 0.7)
    both = sum(0 in lot and 1 in lot for lot in lots)
    assert abs(both - 360) < 4 * math.sqrt(4000 * 0.09 * 0.91)


def test_lot_of_all_units_draws_all() -> None:
    assert poisson_lots(schedule(units=7, lot=7, epochs=2), seed=0) == [list(range(7))] * 2


def test_small_rate_draws_empty_lots_and_keeps_them() -> None:
    lots = poisson_lots(Schedule(units=10, sample_rate=0.01, steps=50), seed=0)
    assert len(lots) == 50
    assert [] in lots


def test_steps_draw_apart_and_seeds_differ() -> None:
    plan = Schedule(units=50, sample_rate=0.5, steps=6)
    lots = poisson_lots(plan, seed=0)
    assert len({tuple(lot) for lot in lots}) == 6
    assert lots == poisson_lots(plan, seed=0)
    assert lots != poisson_lots(plan, seed=1)
    assert len({derived_seed(purpose, seed, 1) for purpose in ("lot", "noise") for seed in (0, 1)}) == 4


def test_lots_are_the_same_in_every_process() -> None:
    code = (
        "from leakscape.training.accounting import Schedule\n"
        "from leakscape.training.dp_lots import poisson_lots\n"
        "print(poisson_lots(Schedule(units=9, sample_rate=0.5, steps=3), seed=2))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    other = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "77"})
    assert other.stdout.strip() == str(poisson_lots(Schedule(units=9, sample_rate=0.5, steps=3), seed=2))


@given(st.lists(st.integers(1, 9), max_size=30), st.integers(1, 10))
def test_micro_batches_hold_whole_units_in_order(sizes: list[int], size: int) -> None:
    lot = [tuple(examples(count, seed=count)) for count in sizes]
    batches = list(micro_batches(lot, size))
    assert [unit for batch in batches for unit in batch] == lot
    assert all(batches)
    for batch in batches:
        assert len(batch) == 1 or sum(len(unit) for unit in batch) <= size


def test_empty_lot_has_no_micro_batch() -> None:
    assert list(micro_batches([], 4)) == []
