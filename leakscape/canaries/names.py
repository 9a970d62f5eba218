"""Coined medication names: pronounceable, with the stems of real drug classes, and none of them real.

A name is one to three syllables and a class stem: `Mab-sar-tinib`. The stems are those that the WHO publishes for
international non-proprietary names ("The use of stems in the selection of INN"); a stem tells a class, never a
substance, so every name is new although it sounds familiar.
"""

import random
import re
from collections.abc import Collection, Iterator

from leakscape.errors import InputError

MORPHOLOGY = "leakscape/morphology/1"
"""Changes whenever the same seed would coin other names."""

STEMS = (
    "afil", "azepam", "azole", "bactam", "cainide", "ciclib", "cillin", "coxib", "cycline", "degib", "dipine",
    "dronate", "floxacin", "gatran", "gepant", "gliflozin", "gliptin", "glitazone", "lukast", "lutamide", "mab",
    "mycin", "nidazole", "olol", "oxetine", "parib", "parin", "platin", "prazole", "pril", "racetam", "rafenib",
    "sartan", "semide", "setron", "statin", "tinib", "triptan", "vaptan", "vastatin", "zepine", "zumab",
)  # fmt: skip
ONSETS = (
    "b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gl", "k", "l", "m", "n", "p", "pl", "r",
    "s", "t", "tr", "v", "x", "z",
)  # fmt: skip
VOWELS = ("a", "e", "i", "o", "u")
CODAS = ("", "", "b", "l", "m", "n", "r", "s")
SHORTEST, LONGEST = 8, 14

_REAL_PART = 5  # letters from which a real name inside a coined one would be noticed
_WORD = re.compile(r"[a-z]+")
_UNSPEAKABLE = re.compile(r"[aeiou]{3}|[^aeiou]{4}|(.)\1|x[^aeiou]|[^aeiou]x")
_PATIENCE = 200  # draws in a row without a new name before the morphology counts as exhausted


def coin(count: int, *, seed: int, real: Collection[str] = ()) -> tuple[str, ...]:
    """Coin distinct medication names.

    No name is part of another one or of a real name, holds a real name of five letters or more, or lies within one
    edit of a real one; all comparisons ignore case.

    Args:
        count: how many.
        seed: the same seed, count and real names give the same names in the same order.
        real: names of real drugs, in any case; each word of a name counts.

    Returns:
        The names, capitalised, in a random order: any subset is exchangeable with the rest, as exposure needs.

    Raises:
        InputError: the morphology has no `count` names that differ enough.
    """
    rng = random.Random(f"{MORPHOLOGY}/{seed}")
    rule = _Distinct(real)
    names: list[str] = []
    misses = 0
    while len(names) < count:
        name = _draw(rng)
        misses = 0 if rule.admit(name) else misses + 1
        if misses > _PATIENCE:
            raise InputError(f"only {len(names)} of {count} medication names could be coined; ask for fewer.")
        if not misses:
            names.append(name.capitalize())
    rng.shuffle(names)
    return tuple(names)


def parts(word: str, shortest: int = SHORTEST) -> Iterator[str]:
    """Every substring of `word` with at least `shortest` letters, the word itself included."""
    for start in range(len(word) - shortest + 1):
        for end in range(start + shortest, len(word) + 1):
            yield word[start:end]


class _Distinct:
    """Admits names that can't be mistaken for one another or for a real one."""

    def __init__(self, real: Collection[str]) -> None:
        words = {word for name in real for word in _WORD.findall(name.lower())}
        self._real = {word for word in words if len(word) >= _REAL_PART}
        self._near = {short for word in self._real for short in _shortened(word)}
        self._names: set[str] = set()
        self._parts = {part for word in words for part in parts(word)}

    def admit(self, name: str) -> bool:
        if name in self._parts or not self._names.isdisjoint(parts(name)):
            return False
        if not self._near.isdisjoint(_shortened(name)) or not self._real.isdisjoint(parts(name, _REAL_PART)):
            return False
        self._names.add(name)
        self._parts.update(parts(name))
        return True


def _shortened(word: str) -> Iterator[str]:
    """The word and each form that lacks one letter: two words share a form if they lie within one edit."""
    yield word
    for index in range(len(word)):
        yield word[:index] + word[index + 1 :]


def _draw(rng: random.Random) -> str:
    while True:
        stem = rng.choice(STEMS)
        syllables = [rng.choice(ONSETS) + rng.choice(VOWELS) + rng.choice(CODAS) for _ in range(rng.randint(1, 3))]
        name = "".join(syllables) + stem
        if SHORTEST <= len(name) <= LONGEST and not _UNSPEAKABLE.search(name):
            return name
