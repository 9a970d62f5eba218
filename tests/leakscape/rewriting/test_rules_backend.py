"""A corpus small enough to count by hand: lisinopril and metformin are common, the coined name and one disease rare."""

import random
import re
from collections.abc import Iterator

import pytest

from leakscape.errors import InputError
from leakscape.records.record import CorpusRecord, Record, instance
from leakscape.rewriting.backend import Request
from leakscape.rewriting.rarity import Rarity, count_values
from leakscape.rewriting.rules_backend import RulesBackend, private, retell

CANARY = Record(
    id="canary-001",
    name="Zoë O'Brien",
    sex="female",
    birth_date="1956-03-12",
    ssn="912-45-6789",
    street="12 Elm Street",
    city="Salem",
    state="MA",
    zip="01970",
    problems=("Essential hypertension (disorder)", "Gaucher disease (disorder)"),
    medications=("lisinopril 10 MG Oral Tablet", "Mabsartinib"),
)


def corpus() -> Iterator[CorpusRecord]:
    for number in range(5):
        yield instance(
            Record(
                id=f"train-{number}",
                name="Ann Lee",
                sex="female",
                birth_date="1980-01-01",
                ssn="900-00-0001",
                street="1 Oak Street",
                city="Boston",
                state="MA",
                zip="02108",
                problems=("Essential hypertension (disorder)", "Prediabetes (finding)"),
                medications=("lisinopril 10 MG Oral Tablet", "metformin 500 MG Oral Tablet"),
            )
        )
    for copy in range(64):
        yield instance(CANARY, instance_id=f"canary-001/{copy}", person="canary-001")


@pytest.fixture
def rarity() -> Rarity:
    return count_values(corpus(), rare_below=3)


def test_people_are_counted_and_not_copies(rarity: Rarity) -> None:
    assert rarity.people["medications"] == {
        "lisinopril 10 MG Oral Tablet": 6,
        "metformin 500 MG Oral Tablet": 5,
        "Mabsartinib": 1,
    }
    assert rarity.is_rare("medications", "Mabsartinib")
    assert rarity.common("problems") == (("Essential hypertension (disorder)", "Prediabetes (finding)"), (6, 5))


def test_the_plain_form_keeps_every_fact_and_ends_with_the_medications() -> None:
    for seed in range(50):
        text = retell(CANARY, random.Random(seed))
        for value in (CANARY.name, CANARY.ssn, CANARY.street, CANARY.city, CANARY.zip, CANARY.birth_date):
            assert value in text
        assert all(value in text for value in CANARY.problems)
        assert text.endswith("lisinopril 10 MG Oral Tablet; Mabsartinib")


def test_rewrites_with_other_seeds_use_other_words() -> None:
    assert len({retell(CANARY, random.Random(seed)) for seed in range(50)}) > 10


def test_the_private_form_keeps_common_facts_and_nothing_that_points_at_the_person(rarity: Rarity) -> None:
    for seed in range(50):
        fiction = private(CANARY, rarity, random.Random(seed))
        assert fiction.problems == ("Essential hypertension (disorder)", "Prediabetes (finding)")
        assert fiction.medications == ("lisinopril 10 MG Oral Tablet", "metformin 500 MG Oral Tablet")
        for field in ("name", "birth_date", "ssn", "street", "city", "zip"):
            assert getattr(fiction, field) != getattr(CANARY, field)
        assert fiction.sex == CANARY.sex
        assert re.fullmatch(r"[\w'\u2019 .-]+", fiction.name)
        assert re.fullmatch(r"\d+ [\w'. -]+ Street", fiction.street)


def test_without_a_common_value_the_rare_one_is_left_out_not_kept() -> None:
    lonely = count_values([instance(CANARY)], rare_below=3)
    fiction = private(CANARY, lonely, random.Random(0))
    assert fiction.problems == ()
    assert fiction.medications == ()
    assert "Mabsartinib" not in retell(fiction, random.Random(0))


def test_answers_are_the_same_in_any_company(rarity: Rarity) -> None:
    requests = [
        Request(id=record.id, prompt="", source=record.text, seed=number) for number, record in enumerate(corpus())
    ]
    backend = RulesBackend("privacy-aware", rarity)
    together = {answer.id: answer.text for answer in backend.answers(requests)}
    alone = {request.id: next(backend.answers([request])).text for request in reversed(requests)}
    assert together == alone


def test_a_scrubbed_record_is_still_a_record(rarity: Rarity) -> None:
    source = instance(CANARY).text.replace("Zoë O'Brien", "[PERSON]").replace("912-45-6789", "[SSN]")
    answer = next(RulesBackend("rewrite", rarity).answers([Request(id="a", prompt="", source=source, seed=0)]))
    assert "[PERSON]" in answer.text


def test_what_needs_a_model_or_has_another_form_is_refused(rarity: Rarity) -> None:
    with pytest.raises(InputError, match="needs a language model"):
        RulesBackend("summarise-expand", rarity)
    prose = Request(id="train-1", prompt="", source="Zoë came in today.", seed=0)
    with pytest.raises(InputError, match=r"form of a record: record train-1: line 1") as error:
        next(RulesBackend("rewrite", rarity).answers([prose]))
    assert "Zoë" not in str(error.value)
