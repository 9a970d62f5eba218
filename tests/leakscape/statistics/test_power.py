import numpy as np
import pytest

from leakscape.statistics.power import NULL_SD_BITS, canaries_needed, detectable_difference


@pytest.mark.parametrize(("n", "bits"), [(20, 1.27), (50, 0.81), (100, 0.57), (200, 0.40)])
def test_reference_table(n: int, bits: float):
    assert detectable_difference(n) == pytest.approx(bits, abs=0.006)


def test_null_deviation_of_exposure():
    """Uniform ranks among 6,301."""
    bits = np.log2(6301 / np.arange(1, 6302))
    assert bits.std() == pytest.approx(NULL_SD_BITS, abs=5e-4)


def test_canaries_needed_is_the_inverse():
    needed = canaries_needed(0.81)
    assert detectable_difference(needed) <= 0.81 < detectable_difference(needed - 1)
    assert canaries_needed(0.81, paired=True) == pytest.approx(needed / 2, abs=1)


def test_power_is_had():
    """Simulated: 50 on each side, a difference of .81 bits, two-sided z test at .05: found in 80 %."""
    rng = np.random.default_rng(0)
    shift = detectable_difference(50)
    gaps = rng.normal(shift, NULL_SD_BITS, (4000, 50)).mean(1) - rng.normal(0, NULL_SD_BITS, (4000, 50)).mean(1)
    assert np.mean(np.abs(gaps) > 1.96 * NULL_SD_BITS * np.sqrt(2 / 50)) == pytest.approx(0.8, abs=0.03)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="at least one canary"):
        detectable_difference(0)
    with pytest.raises(ValueError, match="nothing"):
        canaries_needed(0)
