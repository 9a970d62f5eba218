"""Each attack by hand, and what must hold for all of them."""

import math
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.scoring.attacks import ATTACKS, Observed
from leakscape.scoring.attacks.loss import loss
from leakscape.scoring.attacks.min_k import min_k
from leakscape.scoring.attacks.min_k_plus_plus import min_k_plus_plus
from leakscape.scoring.attacks.observed import lowest
from leakscape.scoring.attacks.reference import reference
from leakscape.scoring.attacks.zlib_ratio import zlib_ratio

TEN = np.array([-1.0, -2, -3, -4, -5, -6, -7, -8, -9, -15])


def seen(tokens: np.ndarray, **others: object) -> Observed:
    whole = {"text": "Café", "expected": np.full(tokens.size, -2.0), "deviation": np.full(tokens.size, 2.0)}
    return Observed(**{**whole, **others, "token_log_likelihoods": tokens})


def test_loss_by_hand():
    assert loss(seen(TEN)) == pytest.approx(-6.0)


def test_zlib_by_hand():
    size = len(zlib.compress("Café".encode(), 9))  # bytes, not characters
    assert zlib_ratio(seen(TEN)) == pytest.approx(-6.0 / size)
    dull = zlib_ratio(seen(TEN, text="a" * 500))
    assert dull < zlib_ratio(seen(TEN, text="".join(chr(33 + 37 * i % 90) for i in range(500))))


def test_min_k_by_hand():
    assert min_k(seen(TEN)) == pytest.approx((-15 - 9) / 2)  # 20 % of ten tokens: the two least likely
    assert min_k(seen(TEN[:4])) == pytest.approx(-4)  # 0.8 of a token: at least one
    assert min_k(seen(TEN), share=1) == pytest.approx(loss(seen(TEN)))


def test_min_k_plus_plus_by_hand():
    tokens = np.array([-1.0, -3, -6, -2, -2])
    observed = seen(tokens, deviation=np.array([1.0, 0.25, 2, 1, 1]))
    # Standardised: 1, -4, -2, 0, 0; one of five tokens is 20 %.
    assert min_k_plus_plus(observed) == pytest.approx(-4)
    assert min_k_plus_plus(observed, share=0.4) == pytest.approx(-3)


def test_min_k_plus_plus_where_the_model_is_certain():
    certain = seen(np.zeros(3), expected=np.zeros(3), deviation=np.zeros(3))
    assert min_k_plus_plus(certain) == 0


def test_reference_by_hand():
    assert reference(seen(TEN, reference_log_likelihood=-80.0)) == pytest.approx(2.0)  # (-60 + 80) / 10
    assert reference(seen(TEN)) is None


@given(st.lists(st.floats(-50, 0), min_size=1, max_size=40).map(np.array), st.floats(0.01, 5))
def test_a_likelier_text_scores_higher_under_every_attack(tokens: np.ndarray, more: float):
    before = seen(tokens, reference_log_likelihood=-10.0)
    after = replace(before, token_log_likelihoods=tokens + more)
    for name, attack in ATTACKS.items():
        low, high = attack(before), attack(after)
        assert math.isfinite(low), name
        assert low < high, name


@given(st.lists(st.floats(-50, 0), min_size=1, max_size=40).map(np.array), st.floats(0.01, 1))
def test_lowest_equals_a_sorted_list(values: np.ndarray, share: float):
    count = max(1, math.floor(share * values.size + 1e-9))
    assert sorted(lowest(values, share)) == sorted(values)[:count]


def test_lowest_refuses_nothing_and_shares_that_are_none():
    for values, share in ((np.array([]), 0.2), (TEN, 0.0), (TEN, 1.1)):
        with pytest.raises(ValueError, match="lowest share"):
            lowest(values, share)


def test_names():
    assert list(ATTACKS) == ["loss", "zlib", "min_k", "min_k_plus_plus", "reference"]
