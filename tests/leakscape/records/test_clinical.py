import random
from itertools import product

import pytest

from leakscape.records import clinical, vocabulary

PEOPLE = [
    (sex, age, *clinical.draw(rng, sex, age))
    for rng in [random.Random(5)]
    for sex, age in product(vocabulary.SEXES, range(105))
    for _ in range(15)
]
BY_NAME = {
    (problem.name, sex): problem
    for problem in vocabulary.problems()
    for sex in vocabulary.SEXES
    if problem.sex in ("any", sex)
}
DRUGS_OF = {
    form.medication: [drug for drug in vocabulary.drugs().values() if form in drug.presentations]
    for each in vocabulary.drugs().values()
    for form in each.presentations
}


def test_everyone_has_a_problem_and_a_medication():
    assert all(problems and medications for _, _, problems, medications in PEOPLE)


def test_problems_fit_age_and_sex():
    for sex, age, problems, _ in PEOPLE:
        assert all(BY_NAME[name, sex].among(sex, age) > 0 for name in problems)


def test_no_problem_or_medication_comes_twice():
    for _, _, problems, medications in PEOPLE:
        assert len(set(problems)) == len(problems)
        assert len(set(medications)) == len(medications)


def test_problems_of_one_group_exclude_each_other():
    for sex, _, problems, _ in PEOPLE:
        groups = [group for name in problems if (group := BY_NAME[name, sex].group)]
        assert len(set(groups)) == len(groups)


def test_a_complication_has_its_cause():
    found = 0
    for sex, _, problems, _ in PEOPLE:
        for cause in filter(None, (BY_NAME[name, sex].requires for name in problems)):
            assert cause in problems
            found += 1
    assert found > 20


def test_each_medication_treats_one_of_the_problems_at_that_age():
    for sex, age, problems, medications in PEOPLE:
        given = {drug for name in problems for drug, _ in BY_NAME[name, sex].drugs}
        fitting = {
            form.medication
            for drug in given
            for form in vocabulary.drugs()[drug].presentations
            if form.from_age <= age <= form.to_age
        }
        assert set(medications) <= fitting


def test_nobody_takes_two_drugs_of_one_class():
    for _, _, _, medications in PEOPLE:
        known = [DRUGS_OF[text][0] for text in medications if len(DRUGS_OF[text]) == 1]
        classes = [name for drug in known for name in drug.classes]
        assert len(set(classes)) == len(classes)


@pytest.mark.parametrize("seed", range(3))
def test_nobody_pregnant_takes_what_pregnancy_forbids(seed: int):
    rng = random.Random(seed)
    pregnant = [draw for _ in range(2000) if clinical.PREGNANCY in (draw := clinical.draw(rng, "female", 30))[0]]
    assert len(pregnant) > 20
    for _, medications in pregnant:
        assert not any(drug.avoid for text in medications for drug in DRUGS_OF[text])
