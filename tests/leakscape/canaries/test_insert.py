"""Planting, on small populations made here."""

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.canaries.identity import keys
from leakscape.canaries.insert import Planted, Settings, check_names, copy_of, corpus, plant
from leakscape.canaries.search import NameSearch
from leakscape.errors import InputError, IntegrityError, RecordError
from leakscape.records.record import Record, parse, render

SETTINGS = Settings(count=10, multiplicities=(1, 2, 5), alternatives=40, seed=7)


def people(count: int, *, prefix: str = "train") -> list[Record]:
    rng = random.Random(prefix)
    return [
        Record(
            id=f"{prefix}-{number}",
            name=" ".join(
                (rng.choice(["María", "Ann", "Zoë"]), rng.choice(["O'Brien", "Müller", "Stone5"]), str(number))
            ),
            sex=rng.choice(["female", "male"]),
            birth_date=f"19{rng.randint(20, 99)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
            ssn=f"9{rng.randint(10, 99)}-{rng.randint(50, 99)}-{number:04d}",
            street=f"{number} Elm Street",
            city="Salem",
            state="MA",
            zip="01970",
            problems=("Essential hypertension (disorder)",) * (number % 3),
            medications=("Lisinopril 10 MG Oral Tablet",) * (1 + number % 2),
        )
        for number in range(count)
    ]


def planted(train: list[Record], settings: Settings = SETTINGS, others: Iterable[list[Record]] = ()) -> Planted:
    return plant(lambda: train, [lambda other=other: other for other in others], settings, ["lisinopril"])


TRAIN, HELD_OUT = people(60), people(30, prefix="held")
PLANTED = planted(TRAIN, others=[HELD_OUT])


def test_a_canary_is_its_donor_with_another_identity_and_the_secret_at_the_end():
    by_id = {record.id: record for record in TRAIN}
    for canary in PLANTED.canaries:
        donor = by_id[canary.donor]
        kept = ("sex", "city", "state", "zip", "problems")
        assert [getattr(canary.record, field) for field in kept] == [getattr(donor, field) for field in kept]
        assert canary.record.medications == (*donor.medications, canary.secret)
        older = dt.date.fromisoformat(donor.birth_date) - dt.date.fromisoformat(canary.record.birth_date)
        assert dt.timedelta(days=1) <= older <= dt.timedelta(days=180)
        assert canary.record.ssn.startswith("9")
        assert canary.record.ssn[4:6] < "50"


def test_no_canary_shares_what_singles_out_a_person():
    everyone = [*TRAIN, *HELD_OUT]
    real = set().union(*map(keys, everyone))
    own = [key for canary in PLANTED.canaries for key in keys(canary.record)]
    assert real.isdisjoint(own)
    assert len(own) == len(set(own)) == 4 * len(PLANTED.canaries)
    assert {record.name for record in everyone}.isdisjoint(canary.record.name for canary in PLANTED.canaries)


def test_donors_are_distinct_and_the_probes_end_where_the_secret_begins():
    assert len({canary.donor for canary in PLANTED.canaries}) == 10
    for canary in PLANTED.canaries:
        assert render(canary.record)[0] == canary.prefix + canary.secret
        assert parse(canary.prefix + canary.secret, record_id=canary.id) == canary.record
        assert canary.question.endswith("\nAnswer: ")
        assert canary.record.name in canary.question
        assert canary.record.birth_date in canary.question


def test_ids_are_numbered_and_names_disjoint():
    assert [canary.id for canary in PLANTED.canaries[:2]] == ["canary-001", "canary-002"]
    secrets = [canary.secret for canary in PLANTED.canaries]
    assert len({*secrets, *PLANTED.alternatives}) == 50


def test_rotation_changes_multiplicities_alone():
    runs = [planted(TRAIN, replace(SETTINGS, rotation=rotation), [HELD_OUT]).canaries for rotation in range(3)]
    assert [[replace(canary, multiplicity=0, would_have=0) for canary in run] for run in runs] == [
        [replace(canary, multiplicity=0, would_have=0) for canary in PLANTED.canaries]
    ] * 3
    assert all({c.multiplicity for c in seen} == {1, 2, 5} for seen in zip(*runs, strict=True))


def test_a_canary_remembers_what_it_was_dealt_before_the_coin():
    dealt = planted(TRAIN, SETTINGS, [HELD_OUT]).canaries
    tossed = planted(TRAIN, replace(SETTINGS, coins=True), [HELD_OUT]).canaries
    assert [canary.would_have for canary in tossed] == [canary.multiplicity for canary in dealt]
    assert all(canary.multiplicity in {0, canary.would_have} for canary in tossed)
    assert {canary.multiplicity for canary in tossed} > {0}


def test_coins_change_multiplicities_alone():
    tossed = planted(TRAIN, replace(SETTINGS, coins=True), [HELD_OUT]).canaries
    assert {canary.multiplicity for canary in tossed} <= {0, 1, 2, 5}
    assert [canary.record for canary in tossed] == [canary.record for canary in PLANTED.canaries]
    assert any(canary.multiplicity == 0 for canary in tossed)


def test_the_corpus_holds_each_record_once_in_order_and_each_copy_once():
    rows = list(corpus(TRAIN, PLANTED, seed=7))
    assert [row.fields for row in rows if not row.id.startswith("canary")] == TRAIN
    copies = Counter(row.person for row in rows if row.id.startswith("canary"))
    assert copies == {canary.id: canary.multiplicity for canary in PLANTED.canaries}
    assert len({row.id for row in rows}) == len(rows) == 60 + sum(copies.values())
    assert all(row.text[span.start : span.end] for row in rows for span in row.spans)
    assert list(corpus(TRAIN, PLANTED, seed=7)) == rows != list(corpus(TRAIN, PLANTED, seed=8))


def test_a_copy_has_the_canary_as_person():
    copy = copy_of(PLANTED.canaries[6], 3)
    assert (copy.id, copy.person) == ("canary-007/3", "canary-007")
    assert copy.text.endswith(PLANTED.canaries[6].secret)


@pytest.mark.parametrize("change", [str.upper, str.lower, lambda name: f"Anti{name}-HCl 5 MG"])
@pytest.mark.parametrize("which", ["secret", "alternative"])
def test_a_coined_name_in_any_record_fails_and_only_the_id_is_told(change, which):  # noqa: ANN001
    name = PLANTED.canaries[0].secret if which == "secret" else PLANTED.alternatives[0]
    spoiled = replace(HELD_OUT[3], problems=(f"Reaction to {change(name)}",))
    with pytest.raises(InputError, match="record held-3 holds a coined medication name") as caught:
        planted(TRAIN, others=[[*HELD_OUT[:3], spoiled]])
    assert name.lower() not in str(caught.value).lower()


def test_a_canary_with_another_ones_secret_fails():
    first, second = PLANTED.canaries[:2]
    names = NameSearch([first.secret, second.secret])
    mixed = replace(first, prefix=first.prefix.replace("Salem", second.secret))
    mixed = replace(mixed, record=replace(first.record, city=second.secret))
    with pytest.raises(IntegrityError, match="canary-001"):
        check_names(names, [], [mixed])


def test_identities_that_are_taken_are_drawn_anew():
    """The people whom the first draw would copy are put into held-out; the next draw avoids them."""
    shadows = [replace(canary.record, id=f"shadow-{canary.id}", medications=("X",)) for canary in PLANTED.canaries]
    again = planted(TRAIN, others=[HELD_OUT, shadows]).canaries
    assert {canary.record.name for canary in again}.isdisjoint(shadow.name for shadow in shadows)
    assert set().union(*map(keys, shadows)).isdisjoint(key for canary in again for key in keys(canary.record))


def test_too_few_records_say_so():
    with pytest.raises(InputError, match="10 canaries need 10 training records with all identifiers, but there are 9"):
        planted([*people(9), replace(people(10)[9], ssn="")])


def test_a_record_twice_fails():
    with pytest.raises(IntegrityError, match="train-3 stands twice"):
        planted([*TRAIN, TRAIN[3]])


def test_a_date_that_is_none_fails_without_its_value():
    with pytest.raises(RecordError, match="birth_date is no date") as caught:
        planted([replace(record, birth_date="12/3/1956") for record in TRAIN])
    assert "1956" not in str(caught.value)


def test_a_record_with_the_id_of_a_canary_fails():
    with pytest.raises(InputError, match="has the id of a canary"):
        list(corpus([replace(TRAIN[0], id="canary-001/1"), *TRAIN[1:]], PLANTED, seed=0))


@pytest.mark.parametrize("train", [TRAIN[:-1], [*TRAIN, HELD_OUT[0]]])
def test_a_population_that_changed_fails(train: list[Record]):
    with pytest.raises(IntegrityError, match="population has"):
        list(corpus(train, PLANTED, seed=0))


@given(st.text("abAB é-", max_size=30), st.sets(st.text("ab", min_size=1, max_size=4), max_size=5))
def test_search_finds_what_a_plain_search_finds(text: str, names: set[str]):
    assert NameSearch(names).find(text) == {name for name in names if name in text.lower()}


def test_a_birth_date_without_room_before_it_is_refused() -> None:
    """Identities are born up to 180 days before their donor; 0001-06-29 is day 179 of the calendar."""
    early = [replace(record, birth_date="0001-06-29") for record in people(12)]
    with pytest.raises(RecordError, match="birth_date lies at the beginning of the calendar"):
        plant(lambda: early, [], SETTINGS, [])
