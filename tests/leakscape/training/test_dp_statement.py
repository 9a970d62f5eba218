"""Expected sentences: from the definition of delta and of the privacy unit."""

from dp_toys import examples

from leakscape.training.accounting import Budget, Schedule
from leakscape.training.dp_statement import cautions, statement

PLAN = Schedule(units=7340, sample_rate=512 / 7340, steps=28)
BUDGET = Budget(epsilon=7.97, delta=1e-5, sigma=0.639, accountant="prv")


def test_every_figure_behind_epsilon_is_stated() -> None:
    stated = statement(PLAN, unit="record", lot=512, clip=1.0, budget=BUDGET)
    figures = {name: value for name, value in stated.items() if name not in ("unit_means", "covers")}
    assert figures == {
        "unit": "record",
        "units": 7340,
        "expected_lot": 512,
        "sampling_rate": 512 / 7340,
        "steps": 28,
        "clip": 1.0,
        "control": False,
        "noise_from": "seed",
        "sigma": 0.639,
        "epsilon": 7.97,
        "delta": 1e-5,
        "accountant": "prv",
    }
    assert "each copy of a canary" in stated["unit_means"]
    assert "adapter alone" in stated["covers"]
    assert "number of units is taken as public" in stated["covers"]
    assert "whoever knows it can take the noise away" in stated["covers"]


def test_a_release_says_that_it_can_not_be_repeated() -> None:
    stated = statement(PLAN, unit="record", lot=512, clip=1.0, budget=BUDGET, noise_from="system")
    assert stated["noise_from"] == "system"
    assert "can't be repeated" in stated["covers"]
    assert "seed" not in stated["covers"]


def test_a_control_claims_nothing() -> None:
    stated = statement(PLAN, unit="person", lot=512, clip=1.0, budget=None)
    assert stated["control"] is True
    assert stated["sigma"] == 0
    assert not {"epsilon", "delta", "accountant", "covers"} & set(stated)
    assert cautions(PLAN, examples(3), unit="record", budget=None) == []


def test_a_sound_claim_has_no_caution() -> None:
    assert cautions(PLAN, examples(3), unit="record", budget=BUDGET) == []


def test_few_units_a_loose_delta_and_many_copies_are_named() -> None:
    loose = Budget(epsilon=8, delta=0.05, sigma=1, accountant="rdp")
    few = Schedule(units=20, sample_rate=0.5, steps=4)
    persons = ["a", "b", "b", "b"]
    found = cautions(few, examples(4, persons=persons), unit="record", budget=loose)
    assert [
        words in line for words, line in zip(("below 1/20", "20 units are few", "up to 3"), found, strict=True)
    ] == [
        True,
        True,
        True,
    ]
    assert len(cautions(few, examples(4, persons=persons), unit="person", budget=loose)) == 2
