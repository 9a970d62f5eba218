from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import InputError, IntegrityError
from leakscape.records.record import Record
from leakscape.records.split import Guard, groups, split, take
from leakscape.records.synthea import Choices, Entry, Patient, Person, assemble


def record(number: int, **values: str) -> Record:
    base = {"id": f"r-{number:04d}", "name": f"Ann {number}", "sex": "female", "birth_date": "1950-01-01"}
    base |= dict.fromkeys(("ssn", "street", "city", "state", "zip"), "")
    return Record(**(base | values), problems=(), medications=("A",))


def people(keys: list[int]) -> list[Person]:
    """One person a number; equal numbers are twins."""
    return [Person(record(place), (("person", str(place)), ("twins", str(key)))) for place, key in enumerate(keys)]


@given(
    keys=st.lists(st.integers(0, 12), min_size=2, max_size=40),
    held=st.integers(0, 6),
    train=st.integers(0, 12),
    seed=st.integers(0, 5),
)
def test_twins_never_stand_on_two_sides(keys: list[int], held: int, train: int, seed: int):
    population = people(keys)
    try:
        sides = split(population, train_count=train, held_out_count=held, held_out_share=0.25, seed=seed)
    except InputError:
        return
    key_of = {person.record.id: key for person, key in zip(population, keys, strict=True)}
    assert len(sides.held_out) == (held or max(1, round(len(keys) / 4)))
    assert not train or len(sides.train) == train
    assert len(sides.train) + len(sides.held_out) + sides.unused == len(keys)
    assert not {key_of[one.id] for one in sides.train} & {key_of[one.id] for one in sides.held_out}
    assert sides.grouped == sum(count for count in Counter(keys).values() if count > 1)


def test_everyone_is_used_when_nobody_is_tied():
    sides = split(people(list(range(10))), train_count=0, held_out_count=0, held_out_share=0.2, seed=1)
    assert (len(sides.train), len(sides.held_out), sides.unused, sides.groups) == (8, 2, 0, 0)


def test_the_seed_steers_and_the_order_does_not():
    population = people(list(range(30)))
    settings = {"train_count": 0, "held_out_count": 10, "held_out_share": 0.2}
    assert split(population, **settings, seed=1) == split(population[::-1], **settings, seed=1)
    assert split(population, **settings, seed=1).held_out != split(population, **settings, seed=2).held_out


def test_only_a_group_that_nothing_else_fits_is_cut():
    pairs = groups(people([1, 1, 2, 2]))
    taken, rest = take(pairs, 3)
    assert len(taken) == 3
    assert rest == []
    taken, rest = take(groups(people([1, 1, 2])), 1)
    assert [person.record.id for person in taken] == ["r-0002"]
    assert len(rest[0]) == 2


def test_ties_reach_through_others():
    chain = [Person(record(1), (("a",), ("b",))), Person(record(2), (("c",),)), Person(record(3), (("c",), ("b",)))]
    assert [[person.record.id for person in group] for group in groups(chain)] == [["r-0001", "r-0002", "r-0003"]]


def test_too_few_people_are_counted_in_the_message():
    with pytest.raises(InputError, match="8 records are asked for, but the source has 5 usable patients"):
        split(people([1, 2, 3, 4, 5]), train_count=6, held_out_count=2, held_out_share=0.2, seed=0)
    with pytest.raises(InputError, match="once twins are kept together"):
        split(people([1, 1, 1]), train_count=0, held_out_count=1, held_out_share=0.2, seed=0)
    with pytest.raises(InputError, match="has 0 usable patients"):
        split([], train_count=0, held_out_count=0, held_out_share=0.2, seed=0)


def test_the_twin_of_one_who_died_stays_on_the_same_side():
    """A replaced patient shares birth date, sex, race, city and income, but neither name nor SSN."""
    shared = {"birth_date": "1950-01-01", "sex": "F", "race": "white", "city": "Salem", "income": "20000"}
    medications = [Entry("2020-01-01", "7", "A")]
    patients = [
        Patient(source_id="1", last="Abe1", ssn="999-11-1111", dead=True, medications=medications, **shared),
        Patient(source_id="2", last="Zed2", ssn="999-22-2222", medications=medications, **shared),
        Patient(source_id="3", last="Mia3", medications=medications, **(shared | {"income": "1"})),
    ]
    found = groups(assemble(patients, Choices(dead="keep"), Counter()))
    assert sorted(len(group) for group in found) == [1, 2]


def test_the_guard_refuses_doubles():
    assert list(Guard().watch("train", [record(1), record(2)])) == [record(1), record(2)]
    with pytest.raises(IntegrityError, match="r-0001 comes twice"):
        list(Guard().watch("train", [record(1), record(1)]))
    guard = Guard()
    list(guard.watch("train", [record(1)]))
    with pytest.raises(IntegrityError, match="r-0002 of held_out is a person of train too"):
        list(guard.watch("held_out", [record(2, name="Ann 1")]))
