"""Coined names against the rules that make them secrets."""

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakscape.canaries.names import LONGEST, SHORTEST, STEMS, coin, parts
from leakscape.errors import InputError

REAL = ("lisinopril", "Atorvastatin", "insulin glargine", "imatinib", "iron")


def edits(first: str, second: str) -> int:
    """Levenshtein distance, the textbook recurrence."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        previous, row[0] = row[0], i
        for j, b in enumerate(second, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def test_twenty_thousand_distinct_names():
    names = coin(20_000, seed=3, real=REAL)
    assert len({name.lower() for name in names}) == 20_000
    assert all(re.fullmatch("[A-Z][a-z]+", name) and SHORTEST <= len(name) <= LONGEST for name in names)
    assert all(name.endswith(STEMS) for name in names)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(), count=st.integers(1, 120))
def test_no_name_is_part_of_another_or_of_a_real_one(seed: int, count: int):
    names = [name.lower() for name in coin(count, seed=seed, real=REAL)]
    real = [word for name in REAL for word in name.lower().split()]
    assert not [(a, b) for a in names for b in [*names, *real] if a is not b and a in b]
    assert not [(word, name) for word in real if len(word) >= 5 for name in names if word in name]


def test_no_name_lies_within_one_edit_of_a_real_one():
    free = coin(400, seed=5)
    # A list of real names that hits the morphology: each is one letter away from a name that would be coined.
    real = ["q" + name[1:].lower() for name in free[:200]]
    names = coin(400, seed=5, real=real)
    assert set(free[:200]).isdisjoint(names)
    assert min(edits(name.lower(), word) for name in names for word in real[:20]) >= 2


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 50))
def test_names_can_be_spoken(seed: int):
    for name in coin(50, seed=seed):
        assert not re.search(r"[aeiou]{3}|[^aeiou]{4}", name.lower()), name


def test_same_names_in_another_process_with_another_hash_seed():
    code = "from leakscape.canaries.names import coin; print(*coin(50, seed=9, real=['lisinopril', 'iron']))"
    printed = [
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert printed[0].decode().split() == list(coin(50, seed=9, real=["lisinopril", "iron"]))


def test_other_seeds_give_other_names():
    assert len({*coin(100, seed=0)} & {*coin(100, seed=1)}) < 5


def test_an_exhausted_morphology_is_an_error_of_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("leakscape.canaries.names.ONSETS", ("b",))
    monkeypatch.setattr("leakscape.canaries.names.STEMS", ("vastatin",))
    with pytest.raises(InputError, match="of 20000 medication names could be coined"):
        coin(20_000, seed=0)


@given(st.text("ab", max_size=9))
def test_parts_are_all_substrings(word: str):
    assert set(parts(word, 3)) == {word[i:j] for i in range(10) for j in range(10) if len(word[i:j]) >= 3}
