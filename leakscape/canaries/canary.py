"""What is known of one canary."""

from dataclasses import dataclass

from leakscape.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A fabricated patient whose last medication is the secret (paper 000, section on canaries).

    Args:
        id: for example `canary-007`.
        multiplicity: how often the record stands in the corpus; 0 for one that was left out by a coin.
        secret: the coined medication name.
        prefix: the record's text up to just before the secret.
        question: a question about the patient to which the secret is the only right answer; it ends where the
            answer begins.
        donor: the id of the training record that lent demographics, problems and other medications.
        record: the fabricated record, the secret last.
        would_have: the multiplicity that it was dealt before any coin; the same as `multiplicity` unless a coin left it
            out. None in artifacts from before this was recorded.
    """

    id: str
    multiplicity: int
    secret: str
    prefix: str
    question: str
    donor: str
    record: Record
    would_have: int | None = None
