import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.statistics.ranks import mean_ranks, pareto_front


def test_mean_ranks_by_hand():
    """High is good in the first metric, low in the second; the tie in the second shares 1.5."""
    values = np.array([[10.0, 20.0, 30.0], [1.0, 1.0, 5.0]])
    assert mean_ranks(values, high_is_good=[True, False]) == pytest.approx([2.25, 1.75, 2.0])


def test_every_resample_is_ranked_for_itself():
    values = np.array([[[1.0, 5.0], [2.0, 4.0]]])
    assert mean_ranks(values, high_is_good=[True]).tolist() == [[2.0, 1.0], [1.0, 2.0]]


def test_front_by_hand():
    privacy, capability = np.array([3.0, 2.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0, 2.0])
    assert pareto_front(privacy, capability).tolist() == [True, True, True, False]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_front_against_its_definition(points: list[tuple[int, int]]):
    def beaten(point: tuple[int, int]) -> bool:
        return any(o[0] >= point[0] and o[1] >= point[1] and o != point for o in points)

    privacy, capability = (np.array(side, dtype=float) for side in zip(*points, strict=True))
    assert pareto_front(privacy, capability).tolist() == [not beaten(point) for point in points]
