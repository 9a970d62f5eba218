import pytest

from leakscape.statistics.binomial import share_interval, wilson_interval


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 20, 0, 0.168), (0, 100, 0, 0.036), (86, 100, 0.776, 0.921), (20, 20, 0.832, 1)],
)
def test_reference_figures(part: int, whole: int, low: float, high: float):
    assert share_interval(part, whole) == pytest.approx((low, high), abs=5e-4)


@pytest.mark.parametrize(("part", "whole"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_share(part: int, whole: int):
    with pytest.raises(ValueError, match="no share"):
        share_interval(part, whole)


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"), [(0, 20, 0, 0.1611), (20, 20, 0.8389, 1), (81, 263, 0.2553, 0.3662)]
)
def test_wilson(part: int, whole: int, low: float, high: float):
    """81 of 263 is Newcombe's example (1998, two-sided intervals, method 3); 3.841 / 23.841 by hand."""
    assert wilson_interval(part, whole) == pytest.approx((low, high), abs=5e-5)
    with pytest.raises(ValueError, match="no share"):
        wilson_interval(1, 0)
