import datetime as dt
import hashlib
import os
import random
import subprocess
import sys
import tracemalloc
from collections import Counter
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import InputError
from leakscape.records import builtin
from leakscape.records.builtin import CAPACITY, STREAMS, generate
from leakscape.records.record import IDENTIFIERS, parse, render

DAY = dt.date(2026, 1, 1)
GOLDEN = "513db67b61afd8881c42260a9d3c077b106a2d2889c045c9fdb2ebded195e744"
PEOPLE = tuple(generate(3000, seed=0, stream="train", reference_date=DAY))

HASH_IN_A_PROCESS = """
import datetime, hashlib
from leakscape.records.builtin import generate
from leakscape.records.record import render
people = generate(100, seed=0, stream="train", reference_date=datetime.date(2026, 1, 1))
print(hashlib.sha256("\\n\\n".join(render(person)[0] for person in people).encode()).hexdigest())
"""


def age_on(born: dt.date, day: dt.date) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def test_the_first_hundred_people_never_change():
    texts = "\n\n".join(render(person)[0] for person in PEOPLE[:100])
    assert hashlib.sha256(texts.encode()).hexdigest() == GOLDEN


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_another_process_gives_the_same_bytes(hash_seed: str):
    ran = subprocess.run(
        [sys.executable, "-c", HASH_IN_A_PROCESS],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == GOLDEN


@pytest.mark.parametrize("count", [0, 1, 10, 999, 1000, 1001])
def test_a_shorter_draw_is_the_beginning_of_a_longer_one(count: int):
    assert tuple(generate(count, seed=0, stream="train", reference_date=DAY)) == PEOPLE[:count]


def test_ids_count_from_one_in_their_stream():
    ids = [person.id for person in generate(3, seed=9, stream="held-out", reference_date=DAY)]
    assert ids == ["held-out-000001", "held-out-000002", "held-out-000003"]


def test_seeds_and_streams_give_other_people():
    draws = [(seed, stream) for seed in (0, 1) for stream in STREAMS]
    first = [next(generate(1, seed=seed, stream=stream, reference_date=DAY)) for seed, stream in draws]
    assert len({(person.name, person.street, person.ssn) for person in first}) == len(first)


def test_streams_have_no_person_in_common():
    numbers = [
        {person.ssn for person in generate(2000, seed=seed, stream=stream, reference_date=DAY)}
        for seed, stream in [(0, "train"), (0, "held-out"), (1, "exemplars"), (2, "pretrain")]
    ]
    assert len(set.union(*numbers)) == 8000


def test_every_record_renders_and_comes_back():
    for person in PEOPLE:
        assert parse(render(person)[0], record_id=person.id) == person
        assert all(getattr(person, field) for field in IDENTIFIERS)


def test_addresses_fit():
    ranges = {(city.name, city.state): city for city in builtin.cities()}
    for person in PEOPLE:
        city = ranges[person.city, person.state]
        assert len(person.zip) == 5
        assert city.zip_low <= int(person.zip) <= city.zip_high
    assert any(person.zip.startswith("0") for person in PEOPLE)


def test_given_names_fit_the_sex():
    for sex in ("female", "male"):
        names = {name.name for name in builtin.given_names(sex)}
        assert all(person.name.split()[0] in names for person in PEOPLE if person.sex == sex)


def test_names_have_accents_apostrophes_and_variety():
    names = [person.name for person in PEOPLE]
    assert 0.1 < sum(not name.isascii() for name in names) / len(names) < 0.3
    assert 0.02 < sum("'" in name for name in names) / len(names) < 0.08
    assert len(set(names)) > 0.8 * len(names)


@given(st.integers(0, 104), st.dates(dt.date(150, 1, 1)), st.integers())
def test_a_birth_date_gives_the_age(age: int, today: dt.date, seed: int):
    assert age_on(builtin._birth_date(random.Random(seed), age, today), today) == age


def test_the_same_people_get_older():
    later = next(generate(1, seed=0, stream="train", reference_date=DAY.replace(year=2036)))
    assert later.ssn == PEOPLE[0].ssn
    assert later.birth_date == f"{int(PEOPLE[0].birth_date[:4]) + 10}{PEOPLE[0].birth_date[4:]}"


def test_most_people_have_few_problems_and_medications():
    assert sum(1 <= len(person.problems) <= 6 for person in PEOPLE) > 0.85 * len(PEOPLE)
    assert sum(1 <= len(person.medications) <= 5 for person in PEOPLE) > 0.8 * len(PEOPLE)


@pytest.mark.parametrize("field", ["problems", "medications"])
def test_facts_have_a_heavy_tail(field: str):
    seen = Counter(value for person in PEOPLE for value in getattr(person, field)).most_common()
    assert seen[0][1] > 100
    assert sum(count == 1 for _, count in seen) >= 5


def test_memory_does_not_grow_with_the_count():
    people = generate(6000, seed=1, stream="train", reference_date=DAY)
    for _ in islice(people, 3000):
        pass
    tracemalloc.start()
    for _ in islice(people, 2900):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # 2,900 records would hold about 4 MB


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stream": "training"}, "no stream 'training'"),
        ({"stream": ""}, "no stream ''"),
        ({"count": -1}, "holds 0 to 3,031,571 people, but -1"),
        ({"count": CAPACITY + 1}, "3,031,572 were asked for"),
        ({"reference_date": dt.date(90, 1, 1)}, "year 150 or later"),
    ],
)
def test_wrong_arguments_are_refused_at_once(change: dict[str, Any], message: str):
    arguments = {"count": 5, "seed": 0, "stream": "train", "reference_date": DAY} | change
    with pytest.raises(InputError, match=message):
        generate(arguments.pop("count"), **arguments)
