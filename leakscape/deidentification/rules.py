"""Rules: identifiers by the record's own lines, and by their shape anywhere.

Every pattern is case-sensitive and names its group `value`. A rule that fits ordinary prose would raise recall and
ruin the text, so a bare number of five digits is no ZIP, and a capitalised word is no name.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from leakscape.deidentification.detector import Found, plain_marks
from leakscape.records.record import LABELS

LINES = {"name": "PERSON", "birth_date": "DATE", "ssn": "SSN", "street": "STREET", "city": "CITY", "zip": "ZIP"}
"""The record's identifying lines and the label of what follows them; sex and state alone point at nobody."""

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_MONTH_NUMBER, _DAY = "(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_STATE = (
    "(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AT]|"
    "W[AIVY])"
)
_WAY = (
    "(?:Alley|Avenue|Boulevard|Bridge|Bypass|Byway|Center|Circle|Common|Court|Crossing|Drive|Esplanade|Gate|Glen|Green|"
    "Grove|Heights|Highway|Hill|Lane|Loop|Manor|Mews|Parade|Park|Parkway|Path|Pathway|Place|Plaza|Promenade|Road|Row|"
    "Run|Spur|Square|Station|Street|Terrace|Trail|Turnpike|View|Village|Walk|Way|Ave|Blvd|Dr|Ln|Rd|St)"
)
_START, _END = r"(?<![\w-])", r"(?![\w-])"  # neither inside a word nor inside a longer hyphenated number

SHAPES = (
    # Three, two and four digits with the same separator twice. Any area: Synthea's are 9xx, which were never issued.
    ("SSN", rf"{_START}(?P<value>\d{{3}}(?P<gap>[-. ])\d{{2}}(?P=gap)\d{{4}}){_END}"),
    # Nine digits in a row are one only behind the word.
    ("SSN", rf"\bSSN:? ?#?(?P<value>\d{{9}}){_END}"),
    # 1956-03-12, also at the head of a time stamp.
    ("DATE", rf"{_START}(?P<value>(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?![\d-])"),
    # 3/12/1956, 03-12-1956, 3/12/56.
    ("DATE", rf"(?<![\w/-])(?P<value>{_MONTH_NUMBER}(?P<cut>[/-]){_DAY}(?P=cut)(?:\d{{4}}|\d\d))(?![\w/-])"),
    # March 12, 1956 and 12 March 1956.
    ("DATE", rf"\b(?P<value>{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)\d\d)\b"),
    ("DATE", rf"\b(?P<value>\d{{1,2}} {_MONTH},? (?:19|20)\d\d)\b"),
    # 555-661-5197, (555) 661-5197, +1 555 661 5197.
    ("PHONE", rf"(?<![\w-])(?P<value>(?:\+?1[-. ])?(?:\(\d{{3}}\) ?|\d{{3}}[-. ])\d{{3}}[-. ]\d{{4}}){_END}"),
    # local part, @, labels with a dot between them.
    ("EMAIL", r"(?<![\w.+-])(?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    # ZIP+4 by itself; five digits only behind a state's code (`MA 01970`, but not `ML 50000`).
    ("ZIP", rf"{_START}(?P<value>\d{{5}}-\d{{4}}){_END}"),
    ("ZIP", rf"\b{_STATE},? (?P<value>\d{{5}}){_END}"),
    # Five digits behind the word.
    ("ZIP", rf"\bZIP(?: code)?:? (?P<value>\d{{5}}){_END}"),
    # House number, one to four capitalised words, a kind of way, and perhaps a flat.
    ("STREET", rf"{_START}(?P<value>\d{{1,5}} (?:[A-Z][\w'.]* ){{1,4}}{_WAY}\b(?: (?:Apt|Unit|Suite) \w+)?)"),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern and the label of its group `value`."""

    label: str
    pattern: re.Pattern[str]


def line_rules() -> tuple[Rule, ...]:
    """The record's own lines: everything to the end of the line; a carriage return is no part of the value."""
    patterns = [(label, rf"^{LABELS[field]}: *(?P<value>[^\r\n]+)") for field, label in LINES.items()]
    return _rules(patterns)


def shape_rules() -> tuple[Rule, ...]:
    """Identifiers that their shape gives away wherever they stand."""
    return _rules(SHAPES)


class RuleDetector:
    """Finds identifiers by patterns; what a record's line names is also found wherever else the text repeats it.

    Args:
        lines: rules whose values are looked for in the whole text.
        shapes: rules that stand for themselves.
    """

    def __init__(self, lines: Sequence[Rule] | None = None, shapes: Sequence[Rule] | None = None) -> None:
        self._lines = line_rules() if lines is None else lines
        self._shapes = shape_rules() if shapes is None else shapes

    def detect(self, texts: Sequence[str]) -> list[list[Found]]:
        """Look at each text on its own; see `Detector`."""
        return [list(self._find(plain_marks(text))) for text in texts]

    def _find(self, text: str) -> Iterator[Found]:
        for rule in self._lines:
            for match in rule.pattern.finditer(text):
                yield Found(match.start("value"), match.end("value"), rule.label)
                yield from _repeats(text, match["value"].strip(), rule.label)
        for rule in self._shapes:
            for match in rule.pattern.finditer(text):
                yield Found(match.start("value"), match.end("value"), rule.label)


def _rules(patterns: Iterable[tuple[str, str]]) -> tuple[Rule, ...]:
    return tuple(Rule(label, re.compile(pattern, re.MULTILINE)) for label, pattern in patterns)


def _repeats(text: str, value: str, label: str) -> Iterator[Found]:
    start = text.find(value) if len(value) > 1 else -1
    while start >= 0:
        end = start + len(value)
        if not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            yield Found(start, end, label)
        start = text.find(value, end)
