"""Weighted draws and permutations that come out equal on every machine.

Only `Random.random` and `Random.getrandbits` are used: Python promises their sequences for a given integer seed, while
`choice`, `sample` and `shuffle` may change between versions. No transcendental function takes part.
"""

import hashlib
import operator
import random
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")

_ROUNDS = 4


def derived(*parts: object) -> random.Random:
    """A generator of its own for these parts, seeded with their SHA-256."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))


def below(rng: random.Random, bound: int) -> int:
    """A whole number from 0 to `bound` - 1; `bound` is far below 2**53, so every value is as likely as the next."""
    return int(rng.random() * bound)


class Weighted(Generic[T]):
    """Values drawn as often as their whole-number weights say."""

    __slots__ = ("_cumulative", "_total", "values")

    def __init__(self, weighted: Iterable[tuple[T, int]]) -> None:
        pairs = tuple((value, weight) for value, weight in weighted if weight > 0)
        self.values = tuple(value for value, _ in pairs)
        self._cumulative = list(accumulate(weight for _, weight in pairs))
        self._total = self._cumulative[-1] if pairs else 0

    def __bool__(self) -> bool:
        return self._total > 0

    def pick(self, rng: random.Random) -> T:
        """One value; there must be one."""
        return self.values[bisect_right(self._cumulative, int(rng.random() * self._total))]


class Independent(Generic[T]):
    """Values each of which is there or not, independently, by a probability of its own (0 <= p < 1).

    It leaps from one that is there to the next: after position k, the chance that none up to j is there is
    S[j] / S[k] with S[j] = (1 - p[0]) ... (1 - p[j]). So it takes a draw for each value found, not for each value.
    """

    __slots__ = ("_falling", "values")

    def __init__(self, likely: Iterable[tuple[T, float]]) -> None:
        pairs = tuple(likely)
        self.values = tuple(value for value, _ in pairs)
        none_yet = accumulate((1.0 - share for _, share in pairs), operator.mul)
        self._falling = [-chance for chance in none_yet]  # negated, because bisect wants rising numbers

    def pick(self, rng: random.Random) -> list[T]:
        """The values that are there, in their order."""
        found: list[T] = []
        position, none_yet = 0, 1.0
        while (position := bisect_right(self._falling, -(rng.random() * none_yet), position)) < len(self.values):
            found.append(self.values[position])
            none_yet = -self._falling[position]
            position += 1
        return found


class Permutation:
    """A keyed one-to-one map of 0..size-1 onto itself that needs no memory of what it gave.

    A Feistel network of four rounds with random round tables (Luby and Rackoff 1988), on the smallest even number of
    bits that holds `size`; numbers outside are sent through again (cycle walking, Black and Rogaway 2002).
    """

    __slots__ = ("_half", "_mask", "_tables", "size")

    def __init__(self, size: int, *key: object) -> None:
        self.size = size
        self._half = max(1, ((size - 1).bit_length() + 1) // 2)
        self._mask = (1 << self._half) - 1
        rng = derived("permutation", size, *key)
        self._tables = [[rng.getrandbits(self._half) for _ in range(1 << self._half)] for _ in range(_ROUNDS)]

    def __call__(self, index: int) -> int:
        """Where `index` (0..size-1) goes."""
        while True:
            left, right = index >> self._half, index & self._mask
            for table in self._tables:
                left, right = right, left ^ table[right]
            index = left << self._half | right
            if index < self.size:
                return index
