from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from leakscape.settings import settings_of


@dataclass(frozen=True, kw_only=True)
class Wanted:
    rate: float = 1.0
    seed: int = 0


def test_fields_are_taken_by_name_and_others_left_alone() -> None:
    assert settings_of(SimpleNamespace(rate=0.5, seed=3, more=9), Wanted) == Wanted(rate=0.5, seed=3)


def test_what_is_given_wins() -> None:
    assert settings_of(SimpleNamespace(rate=0.5, seed=3), Wanted, seed=4) == Wanted(rate=0.5, seed=4)


def test_no_default_takes_the_place_of_a_missing_field() -> None:
    with pytest.raises(AttributeError, match="seed"):
        settings_of(SimpleNamespace(rate=0.5), Wanted)
