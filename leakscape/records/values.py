"""Single values of Synthea's output, put in the form that records have."""

import datetime as dt
import re
import unicodedata

_NUMBER = re.compile(r"(?<=[^\d\s])\d{1,3}(?=\s|$)")
_SEPARATORS = re.compile("[,\x00]")
_UNKNOWN_ZIP = "00000"
_SEXES = {"m": "male", "male": "male", "f": "female", "female": "female", "other": "other"}
_POSTAL = (
    "Alabama AL,Alaska AK,Arizona AZ,Arkansas AR,California CA,Colorado CO,Connecticut CT,Delaware DE,"
    "District of Columbia DC,Florida FL,Georgia GA,Hawaii HI,Idaho ID,Illinois IL,Indiana IN,Iowa IA,Kansas KS,"
    "Kentucky KY,Louisiana LA,Maine ME,Maryland MD,Massachusetts MA,Michigan MI,Minnesota MN,Mississippi MS,"
    "Missouri MO,Montana MT,Nebraska NE,Nevada NV,New Hampshire NH,New Jersey NJ,New Mexico NM,New York NY,"
    "North Carolina NC,North Dakota ND,Ohio OH,Oklahoma OK,Oregon OR,Pennsylvania PA,Puerto Rico PR,Rhode Island RI,"
    "South Carolina SC,South Dakota SD,Tennessee TN,Texas TX,Utah UT,Vermont VT,Virginia VA,Washington WA,"
    "West Virginia WV,Wisconsin WI,Wyoming WY"
)
_STATES = {entry[:-3].lower(): entry[-2:] for entry in _POSTAL.split(",")}


def plain(value: str) -> str:
    """A value in the CSV exporter's form: commas and line breaks are spaces, single ones; NFC.

    >>> plain("insulin isophane, human 70 UNT/ML")
    'insulin isophane human 70 UNT/ML'
    """
    return " ".join(_SEPARATORS.sub(" ", unicodedata.normalize("NFC", value)).split())


def strip_numbers(name: str) -> str:
    """Take away the one to three digits that Synthea appends to each part of a name.

    >>> strip_numbers("María123 José45 O'Reilly797")
    "María José O'Reilly"
    """
    return _NUMBER.sub("", name)


def is_date(value: str) -> bool:
    """Whether a value is a day in the form YYYY-MM-DD."""
    try:
        return dt.date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def sex(value: str) -> str:
    """`male`, `female` or `other`; '' for anything else."""
    return _SEXES.get(value.strip().lower(), "")


def zip_code(value: str) -> str:
    """The ZIP as text; '' for 00000, which Synthea writes for a town without one."""
    cleaned = plain(value)
    return "" if cleaned == _UNKNOWN_ZIP else cleaned


def state(value: str) -> str:
    """The postal abbreviation, which FHIR has and CSV has not; a value that is no state's name stays."""
    cleaned = plain(value)
    return _STATES.get(cleaned.lower(), cleaned)
