"""Who is attacked: samples that are uniform, seeded and in order."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.scoring.membership import draw


@given(st.integers(0, 60), st.integers(0, 20), st.integers())
def test_a_draw_is_a_sample_in_order(size: int, count: int, seed: int):
    drawn = draw(iter(range(size)), count, random.Random(seed))
    assert len(drawn) == min(size, count)
    assert drawn == sorted(set(drawn))
    assert drawn == draw(iter(range(size)), count, random.Random(seed))


def test_each_one_is_as_likely_as_the_next():
    rng = random.Random(0)
    counts = Counter(one for _ in range(4_000) for one in draw(iter(range(10)), 3, rng))
    # 1,200 expected each; the deviation of a count is sqrt(4000 * .3 * .7) = 29.
    assert [counts[one] for one in range(10)] == pytest.approx([1_200] * 10, abs=4 * 29)
