import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.records.draws import Independent, Permutation, Weighted, below, derived


class Fixed(random.Random):
    """Gives one number again and again."""

    def __init__(self, value: float) -> None:
        super().__init__(0)
        self.value = value

    def random(self) -> float:
        return self.value


HIGHEST = 1 - 2**-53  # what random() gives at most


@pytest.mark.parametrize(("number", "value"), [(0.0, "a"), (0.2499, "a"), (0.25, "b"), (0.99, "b"), (HIGHEST, "b")])
def test_a_weight_is_a_share_of_the_draws(number: float, value: str):
    assert Weighted([("a", 1), ("never", 0), ("b", 3)]).pick(Fixed(number)) == value


@given(st.integers(1, 2**40))
def test_a_number_below_a_bound_never_reaches_it(bound: int):
    assert below(Fixed(HIGHEST), bound) == bound - 1
    assert below(Fixed(0.0), bound) == 0


def test_nothing_to_draw_is_false():
    assert not Weighted([("a", 0)])
    assert Weighted([("a", 1)])


def test_independent_values_come_as_often_as_they_should_and_independently():
    # 50,000 draws: the share of a and b together is the product of their shares, within five standard errors.
    shares = {"a": 0.3, "never": 0.0, "b": 0.6, "rare": 0.001, "c": 0.05}
    coins = Independent(shares.items())
    rng = random.Random(1)
    draws = [coins.pick(rng) for _ in range(50_000)]
    for values in [("a",), ("never",), ("b",), ("rare",), ("c",), ("a", "b"), ("b", "c"), ("a", "c")]:
        expected = math.prod(shares[value] for value in values)
        seen = sum(all(value in draw for value in values) for draw in draws) / len(draws)
        assert abs(seen - expected) <= 5 * math.sqrt(expected * (1 - expected) / len(draws)), values
    assert all(draw == sorted(draw, key=list(shares).index) for draw in draws)


@pytest.mark.parametrize("number", [0.0, HIGHEST])
def test_independent_values_survive_the_ends_of_the_range(number: float):
    assert Independent([("a", 0.5), ("b", 0.5)]).pick(Fixed(number)) == ([] if number == 0.0 else ["a", "b"])


@given(st.integers(1, 600), st.integers())
def test_a_permutation_gives_each_number_once(size: int, key: int):
    permutation = Permutation(size, key)
    assert sorted(map(permutation, range(size))) == list(range(size))


def test_keys_give_different_permutations():
    first, second = Permutation(1000, "a"), Permutation(1000, "b")
    same = sum(first(index) == second(index) for index in range(1000))
    assert same < 20  # one is expected by chance


def test_a_derived_generator_depends_on_every_part_and_on_their_borders():
    parts = [("ab", "c"), ("a", "bc"), ("ab", "c", 1), ("ab", "c", 2)]
    assert len({derived(*each).random() for each in parts}) == len(parts)


def test_a_derived_generator_is_the_same_on_every_machine():
    # Python promises the sequence of random() for an integer seed; the seed is the SHA-256 of b"people\x1f0".
    assert derived("people", 0).random() == 0.8072880301012554


def test_weights_are_met():
    rng = random.Random(3)
    seen = Counter(Weighted([("a", 1), ("b", 2), ("c", 7)]).pick(rng) for _ in range(20_000))
    assert seen["a"] == pytest.approx(2000, rel=0.1)
    assert seen["c"] == pytest.approx(14_000, rel=0.03)
