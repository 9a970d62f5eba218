"""What the readers of Synthea's CSV and FHIR output share: one form for a patient, whichever file it came from.

Synthea's CSV exporter quotes nothing: it puts a space for each comma and line break. Values read from FHIR are put in
the same form, so that a population gives the same records by either way.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from leakscape.errors import InputError, IntegrityError, RecordError
from leakscape.records.record import Record
from leakscape.records.values import plain, sex, state, strip_numbers, zip_code

DEAD = ("drop", "keep")
PROBLEMS = ("clinical", "disorders", "all")
NAME_NUMBERS = ("strip", "keep")
TITLES = ("drop", "keep")
WITHOUT_MEDICATION = ("drop", "refuse")
_CHOICES = {
    "dead": DEAD,
    "problems": PROBLEMS,
    "name_numbers": NAME_NUMBERS,
    "titles": TITLES,
    "without_medication": WITHOUT_MEDICATION,
}

SOCIAL: Mapping[str, str] = {
    "105531004": "housing unsatisfactory",
    "1187604002": "serving in military service",
    "160903007": "full-time employment",
    "160904001": "part-time employment",
    "160968000": "risk activity involvement",
    "224295006": "only primary school",
    "224299000": "higher education",
    "266934004": "transport problem",
    "266948004": "criminal record",
    "314529007": "medication review due",
    "32911000": "homeless",
    "422650009": "social isolation",
    "423315002": "limited social contact",
    "424393004": "violence in the environment",
    "446654005": "refugee",
    "473461003": "high school",
    "5251000175109": "certificate of high school equivalency",
    "706893006": "victim of intimate partner abuse",
    "713458007": "no access to transportation",
    "73438004": "unemployed",
    "73595000": "stress",
    "741062008": "not in labor force",
    "876882001": "died in hospice",
}
"""SNOMED CT codes that Synthea writes as conditions though they state circumstances or paperwork, not health.

By code and not by the tag in brackets: `(finding)` also marks obesity, prediabetes and chronic pain.
"""

# The tags of SNOMED CT that mark no disorder. A description without a tag is an older form of a disorder's name.
_NO_DISORDER = ("(finding)", "(situation)", "(person)")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """How patients become records; the first value of each tuple above is the default.

    Args:
        dead: `drop` leaves out patients with a date of death, who keep 'active' rows in Synthea's output.
        problems: `clinical` leaves out the circumstances of `SOCIAL`; `disorders` leaves out everything tagged
            (finding), (situation) or (person); `all` keeps every active condition.
        name_numbers: `strip` turns Abraham100 into Abraham.
        titles: `keep` leaves Mrs. and PhD in the name.
        without_medication: `drop` leaves out patients without a current medication, `refuse` fails on the first.
    """

    dead: str = "drop"
    problems: str = "clinical"
    name_numbers: str = "strip"
    titles: str = "drop"
    without_medication: str = "drop"

    def __post_init__(self) -> None:
        """Refuse a choice that is none.

        Raises:
            InputError: a value is not among those of its field.
        """
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)}.")


class Entry(NamedTuple):
    """An active condition or medication: the date (YYYY-MM-DD) it began, its code and its description."""

    start: str
    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A patient as the source has it, before any choice is made."""

    source_id: str
    birth_date: str
    dead: bool = False
    ssn: str = ""
    prefix: str = ""
    first: str = ""
    middle: str = ""
    last: str = ""
    suffix: str = ""
    sex: str = ""
    race: str = ""
    income: str = ""
    street: str = ""
    city: str = ""
    state: str = ""
    zip: str = ""
    problems: list[Entry] = field(default_factory=list)
    medications: list[Entry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Person:
    """A record and the keys that tie it to others: people who share a key stay on one side of a split."""

    record: Record
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a source held.

    Args:
        people: those that were kept, in the order of their ids.
        counts: how many patients, files and rows were read, left out and repaired.
        latest_start: the last day on which a condition or medication began (YYYY-MM-DD), '' if none did. The
            reference date of the run that wrote the source lies on it or soon after.
    """

    people: tuple[Person, ...]
    counts: Mapping[str, int]
    latest_start: str = ""


def assemble(
    patients: Iterable[Patient], choices: Choices, counts: Counter[str], *, prefix: str = "patient"
) -> tuple[Person, ...]:
    """Make records of patients.

    Ids are numbers in the order of birth date, SSN and name (`patient-000042`): they hold nothing of the source's own
    ids, they don't depend on the order of rows or on `choices`, and they stay when Synthea's ids drift between runs
    that are otherwise equal (https://github.com/synthetichealth/synthea/issues/1236).

    Args:
        patients: everyone in the source.
        choices: whom and what to keep.
        counts: is added to; what was repaired is counted for those kept alone.
        prefix: of the ids.

    Raises:
        RecordError: a patient has no current medication and `choices` refuses that.
        IntegrityError: people were lost or doubled on the way.
    """
    ordered = sorted(patients, key=_content)
    counts.update(dict.fromkeys(("dead_dropped", "without_medication_dropped"), 0))
    people = []
    for number, patient in enumerate(ordered, start=1):
        if patient.dead and choices.dead == "drop":
            counts["dead_dropped"] += 1
            continue
        repairs: Counter[str] = Counter()
        person = _person(patient, f"{prefix}-{number:06d}", choices, repairs)
        if person.record.medications:
            people.append(person)
            counts.update(repairs)
        elif choices.without_medication == "refuse":
            raise RecordError(
                f"{person.record.id} (by birth date) has no current medication, and a record ends with its "
                "medications; drop such patients or complete the source."
            )
        else:
            counts["without_medication_dropped"] += 1
    counts["patients"] += len(ordered)
    counts["kept"] += len(people)
    if len(ordered) != len(people) + counts["dead_dropped"] + counts["without_medication_dropped"]:
        raise IntegrityError("Patients read are not patients kept and dropped; this is a fault of ours.")
    return tuple(people)


def _content(patient: Patient) -> tuple[str, ...]:
    return (patient.birth_date, patient.ssn, patient.last, patient.first, patient.middle, patient.source_id)


def _person(patient: Patient, record_id: str, choices: Choices, counts: Counter[str]) -> Person:
    record = Record(
        id=record_id,
        name=_name(patient, choices),
        sex=sex(patient.sex),
        birth_date=patient.birth_date,
        ssn=plain(patient.ssn),
        street=plain(patient.street),
        city=plain(patient.city),
        state=state(patient.state),
        zip=zip_code(patient.zip),
        problems=_texts((entry for entry in patient.problems if _wanted(entry, choices, counts)), counts),
        medications=_texts(patient.medications, counts),
    )
    counts["zip_unknown"] += not record.zip
    counts["sex_unknown"] += not record.sex
    return Person(record, _keys(patient, record))


def _name(patient: Patient, choices: Choices) -> str:
    name = plain(f"{patient.first} {patient.middle} {patient.last}")
    if choices.name_numbers == "strip":
        name = strip_numbers(name)
    return plain(f"{patient.prefix} {name} {patient.suffix}") if choices.titles == "keep" else name


def _keys(patient: Patient, record: Record) -> tuple[tuple[str, ...], ...]:
    """One key for the person, one for the demographic twins whom Synthea makes when it replaces the dead.

    Twins share birth date, sex, race, city and income (https://github.com/synthetichealth/synthea/issues/439).
    """
    race, income = plain(patient.race).lower(), plain(patient.income)
    return (
        ("person", *identity(record)),
        ("twins", record.birth_date, record.sex, race, record.city, income),
    )


def identity(record: Record) -> tuple[str, str, str]:
    """What makes two records the same person's: name, birth date and SSN."""
    return (record.name, record.birth_date, record.ssn)


def _wanted(entry: Entry, choices: Choices, counts: Counter[str]) -> bool:
    social = choices.problems != "all" and entry.code in SOCIAL
    other = not social and choices.problems == "disorders" and entry.text.endswith(_NO_DISORDER)
    counts["social_problems_dropped"] += social
    counts["other_findings_dropped"] += other
    return not (social or other)


def _texts(entries: Iterable[Entry], counts: Counter[str]) -> tuple[str, ...]:
    """Descriptions in the order of their beginning, each once."""
    texts = [entry.text for entry in sorted(entries, key=lambda entry: (entry.start, entry.text))]
    unique = tuple(dict.fromkeys(texts))
    counts["repeated_entries_merged"] += len(texts) - len(unique)
    return unique
