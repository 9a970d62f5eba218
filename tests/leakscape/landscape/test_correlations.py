import numpy as np
import pytest

from leakscape.landscape.catalogue import CATALOGUE
from leakscape.landscape.correlations import PAIRS, correlations
from leakscape.landscape.estimates import Settings
from leakscape.landscape.figures import Estimate

FAST = Settings(resamples=200)


def by_condition(*values: float | None) -> dict[str, Estimate]:
    named = zip("abcdefg", values, strict=False)
    return {name: Estimate(value=value, low=None, high=None, n=9) for name, value in named if value is not None}


def test_pairs_name_metrics_of_the_catalogue():
    assert {name for pair in PAIRS for name in pair} <= set(CATALOGUE)


def test_coefficients_by_hand_over_the_conditions_that_have_both():
    """Ranks 1 2 3 4 against 2 1 3 4: rho = 1 - 6 * 2 / (4 * 15) = 0.8; of 24 orders 8 reach 0.8 in size."""
    figures = {
        "verbatim_perplexity": by_condition(1, 2, None, 3, 4),
        "semantic_perplexity": by_condition(20, 10, 99, 30, 40),
    }
    [found] = correlations("abcde", figures, {}, FAST)
    assert (found.x, found.y, found.n) == ("verbatim_perplexity", "semantic_perplexity", 4)
    assert found.value == pytest.approx(0.8)
    assert found.p == pytest.approx(8 / 24)
    assert (found.low, found.drawn_low, found.drawn_high) == (None, None, None)


def test_draws_of_canaries_give_their_own_interval():
    """In a quarter of the draws the order is the reverse: the interval reaches from -1 to 1."""
    left = {name: np.full(400, float(place)) for place, name in enumerate("abc")}
    signs = np.where(np.arange(400) < 100, -1.0, 1.0)
    right = {name: signs * place for place, name in enumerate("abc")}
    figures = {"exposure_bits": by_condition(1, 2, 3), "verbatim_perplexity": by_condition(1, 2, 3)}
    [found] = correlations("abc", figures, {"exposure_bits": left, "verbatim_perplexity": right}, FAST)
    assert (found.value, found.drawn_low, found.drawn_high) == (1, -1, 1)


def test_two_conditions_or_equal_figures_correlate_with_nothing():
    few = {"exposure_bits": by_condition(1, 2), "verbatim_perplexity": by_condition(1, 2)}
    flat = {"exposure_bits": by_condition(1, 1, 1), "verbatim_perplexity": by_condition(1, 2, 3)}
    assert correlations("ab", few, {}, FAST) == []
    assert correlations("abc", flat, {}, FAST) == []
