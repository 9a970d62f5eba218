import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leakscape.statistics.bootstrap import Sample, interval, of_values, replicates


def ends(values: np.ndarray, strata: np.ndarray | None = None, **options: object) -> tuple[float, float]:
    sample = of_values(values, strata)
    found = interval(sample, replicates([sample], resamples=4000, seed=1)[0], **options)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_plain_bca_is_scipys():
    """Within the noise of 4,000 draws; skewed values, so that the correction matters."""
    values = np.random.default_rng(3).lognormal(0, 1, 40)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2))
    ours = ends(values, expand=False)
    assert ours == pytest.approx(theirs.confidence_interval, abs=0.06)
    percentile = np.quantile(replicates([of_values(values)], resamples=4000, seed=1)[0], [0.025, 0.975])
    assert ours[1] > percentile[1] + 0.05


def test_draws_keep_every_stratum():
    """Two strata without spread inside: a draw that keeps their sizes can only give the mean itself."""
    values, strata = np.array([1.0, 1, 1, 9, 9]), np.array([1, 1, 1, 64, 64])
    drawn = replicates([of_values(values, strata)], resamples=500, seed=0)
    assert np.allclose(drawn, 4.2)
    assert ends(values, strata) == pytest.approx((4.2, 4.2))
    assert np.ptp(replicates([of_values(values)], resamples=500, seed=0)) > 1


def test_rows_of_a_group_stay_together():
    """Two groups, three rows and one row: a draw holds the first twice, the second twice or both once."""
    sample = Sample(np.array([30.0, 2.0]), np.array([3.0, 1.0]), np.zeros(2, dtype=np.int64))
    drawn = replicates([sample], resamples=400, seed=0)[0]
    assert set(np.round(drawn, 6)) == {10.0, 2.0, 8.0}
    assert sample.mean == 8


def test_samples_get_the_same_draws():
    values = np.random.default_rng(0).normal(size=30)
    one, other = of_values(values), of_values(values + 5)
    drawn = replicates([one, other], resamples=300, seed=4)
    assert np.allclose(drawn[1] - drawn[0], 5)
    assert np.array_equal(drawn, replicates([one, other], resamples=300, seed=4))
    assert not np.array_equal(drawn, replicates([one, other], resamples=300, seed=5))


def test_large_samples_are_drawn_in_pieces_with_the_right_spread():
    values = np.random.default_rng(0).normal(size=9_000)
    drawn = replicates([of_values(values)], resamples=1000, seed=0)[0]
    assert drawn.shape == (1000,)
    assert drawn.std() == pytest.approx(values.std() / np.sqrt(9_000), rel=0.1)


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_coverage_of_small_samples(size: int):
    """Five normal values: covered in about 80 % without the widening, in 89 % with it (no draw lies outside them)."""
    rng = np.random.default_rng(11)
    inside = plain = 0
    trials = 400
    for trial in range(trials):
        sample = of_values(rng.normal(size=size))
        drawn = replicates([sample], resamples=1000, seed=trial)[0]
        found = interval(sample, drawn)
        if size == 1:
            assert found is None
            return
        assert found is not None
        inside += found[0] <= 0 <= found[1]
        low, high = interval(sample, drawn, expand=False) or (0, 0)
        plain += low <= 0 <= high
    if size == 5:
        assert plain / trials < 0.84
    assert inside / trials > {2: 0.45, 5: 0.87, 20: 0.92}[size]


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30),
    strata=st.lists(st.integers(0, 3), min_size=30, max_size=30),
)
@settings(max_examples=60, deadline=None)
def test_interval_holds_the_mean_and_never_nan(values: list[float], strata: list[int]):
    sample = of_values(np.array(values), np.array(strata[: len(values)], dtype=np.int64))
    found = interval(sample, replicates([sample], resamples=200, seed=0)[0])
    if found is not None:
        assert found[0] <= sample.mean <= found[1]
        assert min(values) - 1e-6 <= found[0]
        assert found[1] <= max(values) + 1e-6


def test_missing_values_take_no_part():
    values = np.array([1.0, np.nan, 3.0])
    assert of_values(values).mean == 2
    with pytest.raises(ValueError, match="at least one"):
        _ = of_values(np.array([np.nan])).mean
