"""Small files in the formats of Synthea, written for tests."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_COLUMNS = (
    "Id,BIRTHDATE,DEATHDATE,SSN,DRIVERS,PASSPORT,PREFIX,FIRST,MIDDLE,LAST,SUFFIX,MAIDEN,MARITAL,RACE,ETHNICITY,GENDER,"
    "BIRTHPLACE,ADDRESS,CITY,STATE,COUNTY,FIPS,ZIP,LAT,LON,HEALTHCARE_EXPENSES,HEALTHCARE_COVERAGE,INCOME"
)
COLUMNS_28 = _COLUMNS.split(",")
COLUMNS_27 = [name for name in COLUMNS_28 if name != "MIDDLE"]
COLUMNS_25 = [name for name in COLUMNS_28 if name not in ("MIDDLE", "FIPS", "INCOME")]
CONDITIONS = ["START", "STOP", "PATIENT", "ENCOUNTER", "SYSTEM", "CODE", "DESCRIPTION"]
_MEDICATIONS = (
    "START,STOP,PATIENT,PAYER,ENCOUNTER,CODE,DESCRIPTION,BASE_COST,PAYER_COVERAGE,DISPENSES,TOTALCOST,REASONCODE,"
    "REASONDESCRIPTION"
)
MEDICATIONS = _MEDICATIONS.split(",")

Row = Mapping[str, str]


def patient(number: int, **values: str) -> Row:
    """A living patient, unlike any other number's."""
    base = {
        "Id": f"id-{number:04d}",
        "BIRTHDATE": f"{1950 + number % 50}-03-{number % 28 + 1:02d}",
        "SSN": f"999-{number // 100 % 100:02d}-{number:04d}",
        "FIRST": f"Rosa{number % 1000}",
        "MIDDLE": "Inés12",
        "LAST": "O'Reilly797",
        "GENDER": "F",
        "RACE": "white",
        "ADDRESS": f"{number} Elm Harbor Apt 1",
        "CITY": "Salem",
        "STATE": "Massachusetts",
        "ZIP": "01970",
        "INCOME": str(20_000 + number),
    }
    return base | values


def condition(number: int, text: str, *, start: str = "2020-01-01", stop: str = "", code: str = "1") -> Row:
    return {"START": start, "STOP": stop, "PATIENT": f"id-{number:04d}", "CODE": code, "DESCRIPTION": text}


def medication(number: int, text: str, *, start: str = "2020-01-01T10:00:00Z", stop: str = "") -> Row:
    return condition(number, text, start=start, stop=stop, code="7")


def write_folder(
    folder: Path,
    patients: Iterable[Row],
    conditions: Iterable[Row] = (),
    medications: Iterable[Row] = (),
    *,
    columns: Sequence[str] = COLUMNS_28,
    end: str = "\n",
    bom: bool = False,
) -> Path:
    """Write the three files as the exporter does: no quoting, a line end after each line."""
    folder.mkdir(parents=True, exist_ok=True)
    files = (("patients", columns, patients), ("conditions", CONDITIONS, conditions))
    for name, header, rows in (*files, ("medications", MEDICATIONS, medications)):
        lines = [",".join(header), *(",".join(row.get(column, "") for column in header) for row in rows)]
        text = ("\ufeff" if bom else "") + "".join(line + end for line in lines)
        (folder / f"{name}.csv").write_bytes(text.encode())
    return folder


def population(folder: Path, count: int, *, first: int = 0) -> Path:
    """A folder of patients who each have a problem and a medication."""
    numbers = range(first, first + count)
    return write_folder(
        folder,
        [patient(number) for number in numbers],
        [condition(number, "Gout") for number in numbers],
        [medication(number, "Allopurinol 100 MG Oral Tablet") for number in numbers],
    )


def fhir_patient(number: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    """The FHIR form of `patient(number)`."""
    row = patient(number)
    base = {
        "resourceType": "Patient",
        "id": row["Id"],
        "identifier": [
            {"system": "urn:mrn", "value": "17"},
            {"system": "http://hl7.org/fhir/sid/us-ssn", "value": row["SSN"]},
        ],
        "name": [
            {"use": "maiden", "family": "Other1", "given": ["Rosa"]},
            {"use": "official", "family": row["LAST"], "given": [row["FIRST"], row["MIDDLE"]], "prefix": ["Mrs."]},
        ],
        "gender": "female",
        "birthDate": row["BIRTHDATE"],
        "address": [{"line": [row["ADDRESS"]], "city": "Salem", "state": "MA", "postalCode": "01970"}],
    }
    return base | values


def fhir_condition(number: int, text: str, *, status: str = "active", code: str = "1") -> dict[str, Any]:
    return {
        "resourceType": "Condition",
        "id": f"c-{number}-{text}",
        "clinicalStatus": {"coding": [{"code": status}]},
        "code": {"coding": [{"code": code, "display": "other"}], "text": text},
        "subject": {"reference": f"urn:uuid:id-{number:04d}"},
        "onsetDateTime": "2020-01-01T23:00:00-05:00",
    }


def fhir_medication(number: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    base = {
        "resourceType": "MedicationRequest",
        "id": f"m-{number}",
        "status": "active",
        "subject": {"reference": f"urn:uuid:id-{number:04d}"},
        "authoredOn": "2020-01-01T23:00:00-05:00",
    }
    return base | values


def bundle(*resources: Mapping[str, Any], kind: str = "transaction") -> dict[str, Any]:
    entries = [{"fullUrl": f"urn:uuid:{resource['id']}", "resource": resource} for resource in resources]
    return {"resourceType": "Bundle", "type": kind, "entry": entries}


def write_bundles(folder: Path, *bundles: Mapping[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(bundles):
        (folder / f"Zoë{number}_Secretname_{number}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder
