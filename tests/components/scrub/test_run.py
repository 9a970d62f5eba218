"""The component from artifact to artifact."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from components.scrub.contract import Scrub
from components.scrub.run import run
from leakscape import artifacts, schemas
from leakscape.deidentification.scrub import Masked
from leakscape.errors import ContractError, IntegrityError
from leakscape.records.record import CorpusRecord, Record, instance, parse

RECORDS = [
    Record(
        id=f"r{number}",
        name=f"Zoë O'Brien{number}",
        sex="female",
        birth_date=f"1950-01-{number + 1:02d}",
        ssn=f"999-80-{number:04d}",
        street=f"{number + 1} Elm Street",
        city="Salem",
        state="MA",
        zip="01970",
        problems=("Essential hypertension (disorder)",),
        medications=("Lisinopril 10 MG Oral Tablet", "Mabsartinib"),
    )
    for number in range(20)
]


def corpus(path: Path, rows: list[CorpusRecord]) -> Path:
    with artifacts.create(path, schema=schemas.CORPUS, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", rows)
    return path


def scrub(
    tmp_path: Path, rows: list[CorpusRecord], out: str = "out", **params: object
) -> tuple[list[CorpusRecord], Path]:
    source = tmp_path / "corpus"
    if not source.exists():
        corpus(source, rows)
    target = tmp_path / out
    run(Scrub(corpus=source, scrubbed=target / "scrubbed", masks=target / "masks", **params))  # type: ignore[arg-type]
    scrubbed = artifacts.load(target / "scrubbed", schema=schemas.CORPUS)
    return list(scrubbed.rows("records.jsonl", CorpusRecord)), target / "masks"


ROWS = [instance(record) for record in RECORDS]


def test_text_is_scrubbed_ids_people_fields_and_order_stay(tmp_path: Path):
    rows, _ = scrub(tmp_path, ROWS)
    assert [(row.id, row.person, row.fields) for row in rows] == [(row.id, row.person, row.fields) for row in ROWS]
    assert rows[3].text == (
        "Patient: [PERSON]\nSex: female\nDate of birth: [DATE]\nSSN: [SSN]\nStreet: [STREET]\nCity: [CITY]\n"
        "State: MA\nZIP: [ZIP]\nActive problems:\n- Essential hypertension (disorder)\nCurrent medications:\n"
        "- Lisinopril 10 MG Oral Tablet\n- Mabsartinib"
    )
    assert all(row.spans == () for row in rows)


def test_masks_point_into_the_original_text_and_hold_no_value(tmp_path: Path):
    _, path = scrub(tmp_path, ROWS)
    masks = artifacts.load(path, schema=schemas.MASKS)
    rows = list(masks.rows("masks.jsonl", Masked))
    assert [row.id for row in rows] == [row.id for row in ROWS]
    text = ROWS[3].text
    assert [text[span.start : span.end] for span in rows[3].spans][:2] == ["Zoë O'Brien3", "1950-01-04"]
    everything = "".join(file.read_text() for file in path.iterdir())
    assert not [value for value in ("O'Brien", "1950-01-04", "999-80", "Salem", "01970") if value in everything]


def test_the_masks_name_the_corpus_they_made_and_judge_the_detector(tmp_path: Path):
    _, path = scrub(tmp_path, ROWS)
    masks = artifacts.load(path, schema=schemas.MASKS)
    assert masks.manifest.details["corpus"] == artifacts.read_manifest(path.parent / "scrubbed").digest
    residual = masks.json("residual.json")
    assert residual["spans_by_label"] == dict.fromkeys(("CITY", "DATE", "PERSON", "SSN", "STREET", "ZIP"), 20)
    assert residual["recall"]["ssn"]["value"] == 1
    assert residual["recall"]["ssn"]["low"] == pytest.approx(0.025 ** (1 / 20))
    assert residual["kept"]["medications"] == {**residual["kept"]["medications"], "value": 1.0, "n": 40}


def test_same_bytes_again(tmp_path: Path):
    digests = []
    for out in ("a", "b"):
        _, path = scrub(tmp_path, ROWS, out, replacement="numbered")
        digests.append((artifacts.read_manifest(path).digest, artifacts.read_manifest(path.parent / "scrubbed").digest))
    assert digests[0] == digests[1]


def test_surrogates_keep_the_form_and_a_persons_copies_agree(tmp_path: Path):
    copies = [replace(ROWS[0], id=f"canary-001/{copy}", person="canary-001") for copy in (1, 2)]
    rows, _ = scrub(tmp_path, [*copies, ROWS[0], ROWS[1]], replacement="surrogate", seed=3)
    assert rows[0].text == rows[1].text != rows[2].text
    known = [getattr(RECORDS[0], field) for field in ("name", "birth_date", "ssn", "street", "city", "zip")]
    assert not [value for value in known for row in rows[:3] if value in row.text]
    assert parse(rows[2].text).medications == RECORDS[0].medications
    assert parse(rows[2].text).state == "MA"


def test_an_empty_corpus_is_scrubbed_to_an_empty_one(tmp_path: Path):
    rows, path = scrub(tmp_path, [])
    assert rows == []
    assert json.loads((path / "residual.json").read_text())["recall"] == {}


def test_empty_texts_stay(tmp_path: Path):
    rows, _ = scrub(tmp_path, [replace(ROWS[0], text="", spans=()), ROWS[1]])
    assert [bool(row.text) for row in rows] == [False, True]


def test_a_record_twice_fails_and_leaves_nothing(tmp_path: Path):
    with pytest.raises(IntegrityError, match="r0 stands twice"):
        scrub(tmp_path, [ROWS[0], ROWS[0]])
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    "params", [{"detector": "token-classifier"}, {"detector": "rules", "model": "x"}, {"detector": "magic"}]
)
def test_settings_that_fit_nothing_are_refused(tmp_path: Path, params: dict[str, object]):
    with pytest.raises(ContractError):
        scrub(tmp_path, ROWS, **params)
