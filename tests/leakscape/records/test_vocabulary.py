import unicodedata
from collections.abc import Callable

import pytest

from leakscape.errors import InputError
from leakscape.records import vocabulary

# 3-digit ZIP prefixes of each state: USPS Labeling List L002.
PREFIXES = {
    "AL": "350-369", "AK": "995-999", "AZ": "850-865", "AR": "716-729", "CA": "900-961", "CO": "800-816",
    "CT": "060-069", "DE": "197-199", "DC": "200-205", "FL": "320-349", "GA": "300-319", "HI": "967-968",
    "ID": "832-838", "IL": "600-629", "IN": "460-479", "IA": "500-528", "KS": "660-679", "KY": "400-427",
    "LA": "700-714", "ME": "039-049", "MD": "206-219", "MA": "010-027", "MI": "480-499", "MN": "550-567",
    "MS": "386-397", "MO": "630-658", "MT": "590-599", "NE": "680-693", "NV": "889-898", "NH": "030-038",
    "NJ": "070-089", "NM": "870-884", "NY": "100-149", "NC": "270-289", "ND": "580-588", "OH": "430-459",
    "OK": "730-749", "OR": "970-979", "PA": "150-196", "RI": "028-029", "SC": "290-299", "SD": "570-577",
    "TN": "370-385", "TX": "750-799", "UT": "840-847", "VT": "050-059", "VA": "201-246", "WA": "980-994",
    "WV": "247-268", "WI": "530-549", "WY": "820-831",
}  # fmt: skip

ALL_TEXT = [
    *(name.name for sex in vocabulary.SEXES for name in vocabulary.given_names(sex)),
    *(name.name for name in (*vocabulary.surnames(), *vocabulary.streets(), *vocabulary.street_types())),
    *(city.name for city in vocabulary.cities()),
    *(problem.name for problem in vocabulary.problems()),
    *(form.medication for drug in vocabulary.drugs().values() for form in drug.presentations),
]


def test_the_zip_codes_of_each_city_lie_in_its_state():
    for city in vocabulary.cities():
        low, high = map(int, PREFIXES[city.state].split("-"))
        assert low <= city.zip_low // 100 <= city.zip_high // 100 <= high, city.name
        assert city.zip_low <= city.zip_high


def test_every_state_has_cities():
    assert {city.state for city in vocabulary.cities()} == set(PREFIXES)
    assert len(vocabulary.cities()) >= 150
    assert {city.name for city in vocabulary.cities("RI")} == {"Newport", "Pawtucket", "Providence"}


@pytest.mark.parametrize("call", [lambda: vocabulary.cities("XX"), lambda: vocabulary.given_names("Frau")])
def test_what_the_tables_lack_is_refused(call: Callable[[], object]):
    with pytest.raises(InputError):
        call()


def test_names_come_from_many_origins_with_accents_and_apostrophes():
    surnames = [name.name for name in vocabulary.surnames()]
    assert len(set(surnames)) >= 600
    assert sum(not name.isascii() for name in surnames) >= 90
    assert sum("'" in name for name in surnames) >= 15
    for sex in vocabulary.SEXES:
        assert len({name.name for name in vocabulary.given_names(sex)}) >= 300


def test_each_origin_has_surnames_and_given_names_of_both_sexes():
    origins = {origin.name for origin in vocabulary.origins()}
    assert {name.origin for name in vocabulary.surnames()} == origins
    for sex in vocabulary.SEXES:
        assert {name.origin for name in vocabulary.given_names(sex)} == origins


def test_text_is_composed_and_trimmed():
    assert all(unicodedata.is_normalized("NFC", text) and text == text.strip() != "" for text in ALL_TEXT)
    assert not any("  " in text or "{" in text for text in ALL_TEXT)


def test_weights_are_positive():
    named = (*vocabulary.surnames(), *vocabulary.streets(), *vocabulary.origins(), *vocabulary.street_types())
    assert all(name.weight > 0 for name in named)
    assert all(weight > 0 for problem in vocabulary.problems() for _, weight in problem.drugs)


def test_there_are_as_many_problems_and_presentations_as_promised():
    assert len({problem.name for problem in vocabulary.problems()}) >= 120
    pairs = {
        (problem.name, form.medication)
        for problem in vocabulary.problems()
        for drug, _ in problem.drugs
        for form in vocabulary.drugs()[drug].presentations
    }
    assert len(pairs) >= 200


def test_problems_carry_their_snomed_tag():
    tags = ("(disorder)", "(finding)", "(situation)")
    assert all(problem.name.endswith(tags) for problem in vocabulary.problems())


def test_a_required_problem_stands_before_those_that_require_it():
    seen: set[str] = set()
    for problem in vocabulary.problems():
        assert problem.requires in ("", *seen), problem.name
        seen.add(problem.name)


def test_a_problem_has_one_row_for_each_sex():
    for sex in vocabulary.SEXES:
        names = [problem.name for problem in vocabulary.problems() if problem.sex in ("any", sex)]
        assert len(names) == len(set(names))


def test_shares_are_shares():
    for problem in vocabulary.problems():
        assert all(0 <= share < 10_000 for _, share in problem.prevalence), problem.name
        assert 0 < problem.treated <= 100
        assert 0 <= problem.second <= 100
        assert [first for first, _ in problem.prevalence] == [0, 6, 18, 35, 50, 65, 80]


def test_prevalence_follows_age_and_sex():
    by_name = {problem.name: problem for problem in vocabulary.problems()}
    pregnancy = by_name["Normal pregnancy (finding)"]
    assert [pregnancy.among("female", age) for age in (17, 18, 34, 35, 44, 45)] == [0, 620, 620, 260, 260, 0]
    assert pregnancy.among("male", 30) == 0
    assert by_name["Essential hypertension (disorder)"].among("male", 80) == 6400


def test_a_presentation_starts_with_or_holds_its_ingredient():
    # "hydrochlorothiazide / lisinopril": both words stand in "hydroCHLOROthiazide 12.5 MG / lisinopril 20 MG ...".
    other = {"pancrelipase", "prenatal vitamin", "senna"}  # named by ingredients instead
    for drug in vocabulary.drugs().values():
        words = [part.split()[0].rstrip(",").lower() for part in drug.name.split(" / ")]
        for form in drug.presentations:
            assert drug.name in other or all(word in form.medication.lower() for word in words), drug.name


def test_drug_names_are_lower_case_generics():
    names = vocabulary.drug_names()
    assert len(names) >= 1200
    assert all(name == name.lower() for name in names)
    assert {"lisinopril", "metoprolol succinate", "metoprolol", "vilanterol", "zuranolone", "fluticasone"} <= names
    assert not any(" / " in name or "topical" in name for name in names)
