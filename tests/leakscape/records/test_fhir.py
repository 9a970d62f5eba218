import time
from dataclasses import replace
from pathlib import Path

import pytest
import synthea_files as files

from leakscape.errors import InputError, RecordError
from leakscape.records import fhir, synthea_csv
from leakscape.records.fhir import SSN_SYSTEM, Resource, read
from leakscape.records.synthea import Choices

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "synthea"
ASPIRIN = {"coding": [{"code": "7", "display": "other"}], "text": "Aspirin, chewable 81 MG"}
MEDICATION = {"resourceType": "Medication", "id": "drug-1", "code": ASPIRIN}


def one(tmp_path: Path, *resources: Resource, choices: Choices | None = None, **values: object):
    content = files.bundle(files.fhir_patient(1, **values), *resources)
    return read(files.write_bundles(tmp_path, content), choices or Choices())


@pytest.mark.parametrize("kind", ["transaction", "collection"])
def test_a_bundle_gives_the_record_that_csv_gives(tmp_path: Path, kind: str):
    resources = [
        files.fhir_patient(1),
        files.fhir_condition(1, "Gout"),
        files.fhir_condition(1, "Old", status="resolved"),
        files.fhir_condition(1, "Full-time employment (finding)", code="160903007"),
        files.fhir_medication(1, medicationCodeableConcept=ASPIRIN),
    ]
    bundles = read(files.write_bundles(tmp_path / "fhir", files.bundle(*resources, kind=kind)), Choices())
    tables = synthea_csv.read(
        files.write_folder(
            tmp_path / "csv",
            [files.patient(1)],
            [files.condition(1, "Gout")],
            [files.medication(1, "Aspirin  chewable 81 MG")],
        ),
        Choices(),
    )
    assert [person.record for person in bundles.people] == [person.record for person in tables.people]
    assert bundles.counts["social_problems_dropped"] == 1
    assert bundles.latest_start == "2020-01-02"  # 23:00 in New York is the next day in UTC


@pytest.mark.parametrize(
    "reference", ["urn:uuid:drug-1", "Medication/drug-1", "https://a.b/fhir/Medication/drug-1/_history/3"]
)
def test_medications_by_reference(tmp_path: Path, reference: str):
    request = files.fhir_medication(1, medicationReference={"reference": reference})
    assert one(tmp_path, MEDICATION, request).people[0].record.medications == ("Aspirin chewable 81 MG",)


def test_a_contained_medication(tmp_path: Path):
    request = files.fhir_medication(1, medicationReference={"reference": "#drug-1"}, contained=[MEDICATION])
    assert one(tmp_path, request).people[0].record.medications == ("Aspirin chewable 81 MG",)


def test_a_reference_that_leads_nowhere_is_refused(tmp_path: Path):
    request = files.fhir_medication(1, medicationReference={"reference": "urn:uuid:gone"})
    with pytest.raises(RecordError, match="file 1 of 1 by name: entry 2 refers to a medication") as caught:
        one(tmp_path, request)
    assert "Secretname" not in str(caught.value)


@pytest.mark.parametrize("status", ["stopped", "completed", "on-hold", "draft"])
def test_only_active_medications_count(tmp_path: Path, status: str):
    reading = one(tmp_path, files.fhir_medication(1, status=status, medicationCodeableConcept=ASPIRIN))
    assert reading.people == ()
    assert reading.counts["without_medication_dropped"] == 1


def test_void_entries_do_not_count(tmp_path: Path):
    refuted = files.fhir_condition(1, "Gout") | {"verificationStatus": {"coding": [{"code": "refuted"}]}}
    relapse = files.fhir_condition(1, "Migraine", status="relapse")
    wanted = files.fhir_medication(1, medicationCodeableConcept=ASPIRIN)
    unwanted = wanted | {"id": "m-2", "doNotPerform": True, "medicationCodeableConcept": {"text": "Ibuprofen"}}
    record = one(tmp_path, refuted, relapse, wanted, unwanted).people[0].record
    assert record.problems == ("Migraine",)
    assert record.medications == ("Aspirin chewable 81 MG",)


@pytest.mark.parametrize("death", [{"deceasedDateTime": "2020-01-01"}, {"deceasedBoolean": True}])
def test_the_dead(tmp_path: Path, death: Resource):
    request = files.fhir_medication(1, medicationCodeableConcept=ASPIRIN)
    assert one(tmp_path, request, **death).people == ()
    assert len(one(tmp_path, request, choices=Choices(dead="keep"), **death).people) == 1


def test_titles_and_the_official_name(tmp_path: Path):
    request = files.fhir_medication(1, medicationCodeableConcept=ASPIRIN)
    assert one(tmp_path, request, choices=Choices(titles="keep")).people[0].record.name == "Mrs. Rosa Inés O'Reilly"


def test_files_without_a_patient_are_counted(tmp_path: Path):
    hospital = files.bundle({"resourceType": "Organization", "id": "h"}, kind="batch")
    folder = files.write_bundles(tmp_path, hospital, {"resourceType": "Patient", "id": "x"})
    (folder / "list.json").write_text("[]", encoding="utf-8")
    reading = read(folder, Choices())
    assert reading.people == ()
    assert reading.counts["files"] == 3
    assert reading.counts["files_without_patient"] == 1
    assert reading.counts["files_not_bundles"] == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"resourceType": "Bundle", "entry": [', "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b'{"resourceType": "Bundle", "entry": [{"fullUrl": "x"}]}', "entry 1 has no resource"),
        (b'{"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Patient", "id": "9"}}]}', "birthDate"),
        (b'{"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Patient"}}]}', "no id"),
    ],
)
def test_damaged_files_are_refused_without_their_names(tmp_path: Path, content: bytes, message: str):
    (tmp_path / "Rosa1_Secretname2.json").write_bytes(content)
    with pytest.raises(RecordError, match=message) as caught:
        read(tmp_path, Choices())
    assert "Secretname" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__cause__ is None


def test_a_patient_twice_is_refused(tmp_path: Path):
    content = files.bundle(files.fhir_patient(1))
    with pytest.raises(RecordError, match="file 2 of 2 by name: its patient stands in an earlier file"):
        read(files.write_bundles(tmp_path, content, content), Choices())


def test_a_patient_twice_in_one_file_is_refused(tmp_path: Path):
    with pytest.raises(RecordError, match="a patient stands in it twice"):
        one(tmp_path, files.fhir_patient(1))


def test_two_patients_in_one_file_keep_their_own(tmp_path: Path):
    requests = [files.fhir_medication(n, medicationCodeableConcept={"text": f"Drug {n}"}) for n in (1, 2)]
    stray = files.fhir_medication(3, medicationCodeableConcept={"text": "Drug 3"})
    reading = one(tmp_path, files.fhir_patient(2), *requests, stray)
    assert {person.record.ssn: person.record.medications for person in reading.people} == {
        "999-00-0001": ("Drug 1",),
        "999-00-0002": ("Drug 2",),
    }
    assert reading.counts["medications_rows_of_unknown_patients"] == 1


def test_a_folder_without_bundles_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"holds no \*\.json"):
        read(tmp_path, Choices())
    with pytest.raises(InputError, match="is no folder"):
        read(tmp_path / "nowhere", Choices())


def test_real_bundles_agree_with_the_real_tables(monkeypatch: pytest.MonkeyPatch):
    """The three patients of fhir-r4 stand in csv-28-columns too: every field must agree.

    None of the three has a current medication, so past ones are made current on the FHIR side to see the patients.
    """
    if not DATA.is_dir():
        pytest.skip("../shared/data is absent")
    assert read(DATA / "fhir-r4", Choices()).counts["without_medication_dropped"] == 3
    assert read(DATA / "fhir-r4", Choices()).counts["files_without_patient"] == 1
    monkeypatch.setattr("leakscape.records.fhir._medication_active", lambda _: True)
    bundles = {p.record.ssn: p.record for p in read(DATA / "fhir-r4", Choices(dead="keep", problems="all")).people}
    monkeypatch.setattr("leakscape.records.synthea_csv._is_active", lambda _stop: True)
    everyone = synthea_csv.read(DATA / "csv-28-columns", Choices(dead="keep", problems="all")).people
    tables = {person.record.ssn: person.record for person in everyone if person.record.ssn in bundles}
    assert len(bundles) == len(tables) == 2  # the youngest never had a medication
    for ssn, record in bundles.items():
        table = tables[ssn]
        assert replace(record, id="", problems=()) == replace(table, id="", problems=())
        assert set(record.problems) <= set(table.problems)


def test_null_and_other_types_are_no_text(tmp_path: Path):
    """FHIR fills lists with null where only an extension is known (`_given`); other exporters write it anywhere."""
    patient = files.fhir_patient(1)
    name = {"use": "official", "family": None, "given": [None, "Zoé"], "prefix": None, "suffix": "MD"}
    patient |= {"name": [name], "address": [{"line": None, "city": None, "state": 7, "postalCode": None}]}
    patient |= {"identifier": [{"system": SSN_SYSTEM, "value": None}], "gender": None}
    request = files.fhir_medication(1, medicationCodeableConcept=ASPIRIN, authoredOn=None)
    condition = files.fhir_condition(1, "Gout") | {"onsetDateTime": None}
    folder = files.write_bundles(tmp_path, files.bundle(patient, request, condition))
    record = read(folder, Choices(titles="keep")).people[0].record
    assert (record.name, record.ssn, record.sex) == ("Zoé MD", "", "")
    assert (record.street, record.city, record.state, record.zip) == ("", "", "", "")
    assert record.problems == ("Gout",)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_a_day_without_a_time_stays_whatever_the_zone_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        request = files.fhir_medication(1, medicationCodeableConcept=ASPIRIN, authoredOn="2020-01-01")
        assert one(tmp_path, request).latest_start == "2020-01-01"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_file_that_cannot_be_read_is_counted_and_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: Path) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "Ada1_Lovelace2.json").touch()
    monkeypatch.setattr(fhir, "read_json", refuse)
    with pytest.raises(RecordError, match="file 1 of 1 by name can't be read: Permission denied") as raised:
        read(tmp_path, Choices())
    assert "Lovelace" not in str(raised.value)
