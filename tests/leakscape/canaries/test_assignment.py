"""Groups, rotation, coins and places, against their definitions."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.canaries.assignment import check_multiplicities, multiplicities_of, spread, toss
from leakscape.errors import ContractError

PAPER = (1, 4, 16, 32, 64)


def test_the_paper_has_five_groups_of_twenty_and_2340_copies():
    dealt = multiplicities_of(100, PAPER, seed=0)
    assert Counter(dealt) == dict.fromkeys(PAPER, 20)
    assert sum(dealt) == 20 * 117


def test_the_first_groups_get_one_more():
    assert Counter(multiplicities_of(13, PAPER, seed=4)) == {1: 3, 4: 3, 16: 3, 32: 2, 64: 2}


@given(seed=st.integers(), count=st.integers(5, 60))
def test_over_all_rotations_each_canary_stands_at_each_multiplicity_once(seed: int, count: int):
    runs = [multiplicities_of(count, PAPER, seed=seed, rotation=rotation) for rotation in range(5)]
    assert all(sorted(seen) == sorted(PAPER) for seen in zip(*runs, strict=True))
    assert multiplicities_of(count, PAPER, seed=seed, rotation=5) == runs[0]


def test_another_seed_deals_other_groups():
    assert multiplicities_of(100, PAPER, seed=0) != multiplicities_of(100, PAPER, seed=1)


def test_coins_leave_out_about_half_and_change_nothing_else():
    dealt = multiplicities_of(1000, PAPER, seed=0)
    tossed = toss(dealt, seed=0)
    assert all(after in (0, before) for before, after in zip(dealt, tossed, strict=True))
    assert 400 < sum(times > 0 for times in tossed) < 600  # 6.3 standard deviations of Bin(1000, 1/2)
    assert toss(dealt, seed=0) == tossed != toss(dealt, seed=1)


@given(records=st.integers(0, 40), times=st.lists(st.integers(0, 5), max_size=8), seed=st.integers())
def test_every_copy_gets_a_place_of_its_own(records: int, times: list[int], seed: int):
    places = spread(records, times, seed=seed)
    assert sorted(places.values()) == [(c, n) for c, many in enumerate(times) for n in range(1, many + 1)]
    assert all(0 <= place < records + sum(times) for place in places)


def test_places_are_even():
    """Of 2,000 copies among 8,000 records each fifth of the corpus holds about 400 (s.d. 16)."""
    places = spread(8000, [20] * 100, seed=1)
    assert all(320 < many < 480 for many in Counter(place // 2000 for place in places).values())


@pytest.mark.parametrize("bad", [[], [0], [-1], [1.5], [True], ["4"], [1, 1], [1, None]])
def test_multiplicities_that_are_refused(bad: list[object]):
    with pytest.raises(ContractError, match="distinct whole numbers from 1"):
        check_multiplicities(bad, 100)


def test_each_group_needs_a_canary():
    with pytest.raises(ContractError, match="at least 5"):
        check_multiplicities(PAPER, 4)
