"""Read FHIR R4 bundles as Synthea writes them: one JSON file a patient, transaction or collection.

A file's name holds the patient's name, so messages count files instead: `file 17 of 40`, in the order of their names.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from leakscape.errors import ArtifactError, InputError, RecordError
from leakscape.records.synthea import Choices, Entry, Patient, Reading, assemble
from leakscape.records.values import is_date, plain
from leakscape.typed_json import read_json

SSN_SYSTEM = "http://hl7.org/fhir/sid/us-ssn"
RACE_EXTENSION = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race"

# condition-clinical: recurrence and relapse are kinds of active.
_ACTIVE_CONDITION = ("active", "recurrence", "relapse")
_VOID_CONDITION = ("refuted", "entered-in-error")
_DAY = len("YYYY-MM-DD")

Resource = Mapping[str, Any]


def read(folder: Path, choices: Choices, *, prefix: str = "patient") -> Reading:
    """Read a population, one bundle in memory at a time.

    Args:
        folder: holds the bundles, by itself or in a subfolder `fhir` as Synthea's output folder does.
        choices: whom and what to keep.
        prefix: of the records' ids.

    Raises:
        InputError: the folder is missing or holds no JSON file.
        RecordError: a file is no JSON, a patient comes twice, or a reference leads nowhere.
    """
    counts: Counter[str] = Counter(dict.fromkeys(("files_without_patient", "files_not_bundles"), 0))
    patients: dict[str, Patient] = {}
    latest = ""
    for where, bundle in _bundles(folder, counts):
        found = _Bundle(bundle, where)
        counts["files_without_patient"] += not found.patients
        for source_id, patient in found.patients.items():
            if source_id in patients:
                raise RecordError(f"{where}: its patient stands in an earlier file too; remove one of the two.")
            patients[source_id] = patient
        if found.patients:
            latest = max(latest, found.add_entries(counts))
    return Reading(
        people=assemble(patients.values(), choices, counts, prefix=prefix), counts=dict(counts), latest_start=latest
    )


def _bundles(folder: Path, counts: Counter[str]) -> Iterator[tuple[str, Resource]]:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; give the folder that holds the bundles (*.json).")
    paths = sorted(folder.glob("*.json")) or sorted((folder / "fhir").glob("*.json"))
    if not paths:
        raise InputError(f"{folder} holds no *.json; run Synthea with --exporter.fhir.export=true.")
    for number, path in enumerate(paths, start=1):
        where = f"{path.parent}, file {number} of {len(paths)} by name"
        counts["files"] += 1
        try:
            content = read_json(path)
        except ArtifactError:
            raise RecordError(f"{where}: no JSON in UTF-8; the file may be cut off.") from None
        except OSError as error:  # its own message would name the file, and so the patient
            raise RecordError(f"{where} can't be read: {error.strerror}.") from None
        if isinstance(content, dict) and content.get("resourceType") == "Bundle":
            yield where, content
        else:
            counts["files_not_bundles"] += 1


class _Bundle:
    """A bundle's resources, by every name that a reference may use."""

    def __init__(self, bundle: Resource, where: str) -> None:
        self.where = where
        self.resources: list[Resource] = []
        self.names: dict[str, Resource] = {}
        for number, entry in enumerate(_list(bundle, "entry"), start=1):
            resource = _dict(entry, "resource")
            if not resource:
                raise RecordError(f"{where}: entry {number} has no resource; the file may be damaged.")
            self.resources.append(resource)
            for name in (entry.get("fullUrl"), f"{resource.get('resourceType')}/{resource.get('id')}"):
                if isinstance(name, str):
                    self.names[name] = resource
        self.patients: dict[str, Patient] = {}
        for resource in self.resources:
            if resource.get("resourceType") == "Patient":
                patient = _patient(resource, where)
                if patient.source_id in self.patients:
                    raise RecordError(f"{where}: a patient stands in it twice; remove one of the two.")
                self.patients[patient.source_id] = patient

    def add_entries(self, counts: Counter[str]) -> str:
        """Add what is active to each patient, and return the latest day on which anything began."""
        latest = ""
        for number, resource in enumerate(self.resources, start=1):
            kind = resource.get("resourceType")
            if kind not in ("Condition", "MedicationRequest"):
                continue
            name = "conditions" if kind == "Condition" else "medications"
            counts[f"{name}_rows"] += 1
            patient = self.patients.get(str(self._resolve(resource, "subject").get("id")))
            if patient is None:
                counts[f"{name}_rows_of_unknown_patients"] += 1
                continue
            start = _condition_start(resource) if kind == "Condition" else _utc_day(_text(resource, "authoredOn"))
            latest = max(latest, start)
            if (_condition_active if kind == "Condition" else _medication_active)(resource):
                counts[f"{name}_rows_active"] += 1
                code, text = _concept(self._code(resource, number), self.where, number)
                entries = patient.problems if kind == "Condition" else patient.medications
                entries.append(Entry(start, code, text))
        return latest

    def _code(self, resource: Resource, number: int) -> Resource:
        if resource["resourceType"] == "Condition":
            return _dict(resource, "code")
        if concept := _dict(resource, "medicationCodeableConcept"):
            return concept
        medication = self._resolve(resource, "medicationReference")
        if not medication:
            raise RecordError(
                f"{self.where}: entry {number} refers to a medication that is not in the file; export it whole."
            )
        return _dict(medication, "code")

    def _resolve(self, resource: Resource, field: str) -> Resource:
        """What a reference points at: contained, by fullUrl, by relative or by absolute address; else nothing."""
        reference = _text(_dict(resource, field), "reference")
        if reference.startswith("#"):
            contained = _list(resource, "contained")
            return next((part for part in contained if part.get("id") == reference[1:]), {})
        relative = "/".join(reference.split("/_history/", maxsplit=1)[0].split("/")[-2:])
        return self.names.get(reference) or self.names.get(relative) or {}


def _patient(resource: Resource, where: str) -> Patient:
    birth_date = _text(resource, "birthDate")
    if not resource.get("id"):
        raise RecordError(f"{where}: the patient has no id.")
    if not is_date(birth_date):
        raise RecordError(f"{where}: the patient's birthDate is missing or no full day (YYYY-MM-DD).")
    names = _list(resource, "name")
    name = next((name for name in names if name.get("use") == "official"), names[0] if names else {})
    given = _texts(name, "given")
    address = next(iter(_list(resource, "address")), {})
    return Patient(
        source_id=str(resource["id"]),
        birth_date=birth_date,
        dead=bool(resource.get("deceasedDateTime") or resource.get("deceasedBoolean")),
        ssn=next((_text(i, "value") for i in _list(resource, "identifier") if i.get("system") == SSN_SYSTEM), ""),
        prefix=" ".join(_texts(name, "prefix")),
        first=given[0] if given else "",
        middle=" ".join(given[1:]),
        last=_text(name, "family"),
        suffix=" ".join(_texts(name, "suffix")),
        sex=_text(resource, "gender"),
        race=_race(resource),
        street=" ".join(_texts(address, "line")),
        city=_text(address, "city"),
        state=_text(address, "state"),
        zip=_text(address, "postalCode"),
    )


def _race(resource: Resource) -> str:
    parts = [
        part for e in _list(resource, "extension") if e.get("url") == RACE_EXTENSION for part in _list(e, "extension")
    ]
    return next((_text(part, "valueString") for part in parts if part.get("url") == "text"), "")


def _condition_active(resource: Resource) -> bool:
    codes = _codes(resource, "clinicalStatus")
    return any(code in _ACTIVE_CONDITION for code in codes) and not any(
        code in _VOID_CONDITION for code in _codes(resource, "verificationStatus")
    )


def _medication_active(resource: Resource) -> bool:
    return resource.get("status") == "active" and resource.get("doNotPerform") is not True


def _codes(resource: Resource, field: str) -> list[str]:
    return [_text(coding, "code") for coding in _list(_dict(resource, field), "coding")]


def _concept(concept: Resource, where: str, number: int) -> tuple[str, str]:
    coding = next(iter(_list(concept, "coding")), {})
    text = plain(_text(concept, "text") or _text(coding, "display"))
    if not text:
        raise RecordError(f"{where}: entry {number} is active but its code has neither text nor display.")
    return _text(coding, "code"), text


def _condition_start(resource: Resource) -> str:
    """The local day, which is what the CSV exporter writes for a condition."""
    return _text(resource, "onsetDateTime")[:_DAY]


def _utc_day(moment: str) -> str:
    """The day in UTC, which is what the CSV exporter writes for a medication."""
    try:
        read = dt.datetime.fromisoformat(moment)
        # FHIR gives a zone with every time of day; a day alone stays that day, whatever zone this machine is in.
        return (read if read.tzinfo is None else read.astimezone(dt.UTC)).date().isoformat()
    except (ValueError, OverflowError):
        return moment[:_DAY]


def _text(resource: Resource, field: str) -> str:
    """A text, '' for whatever is none: `null` is no city."""
    value = resource.get(field)
    return value if isinstance(value, str) else ""


def _texts(resource: Resource, field: str) -> list[str]:
    """The texts of a list; a lone text counts as a list of one."""
    value = resource.get(field)
    listed = value if isinstance(value, list) else [value]
    return [item for item in listed if isinstance(item, str)]


def _dict(resource: Resource, field: str) -> Resource:
    value = resource.get(field)
    return value if isinstance(value, dict) else {}


def _list(resource: Resource, field: str) -> list[Resource]:
    value = resource.get(field)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
