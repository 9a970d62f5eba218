from leakscape.canaries.canary import Canary
from leakscape.corpus_audit.coined import CoinedNames
from leakscape.corpus_audit.features import Count
from leakscape.records.record import Record

RECORD = Record(
    id="c", name="", sex="", birth_date="", ssn="", street="", city="", state="", zip="", problems=(), medications=(),
)  # fmt: skip


def canary(number: int, secret: str, multiplicity: int) -> Canary:
    return Canary(
        id=f"canary-{number:03d}", multiplicity=multiplicity, secret=secret, prefix="", question="", donor="",
        record=RECORD,
    )  # fmt: skip


def test_planted_and_unplanted_names_are_counted_apart() -> None:
    canaries = [
        canary(0, "Mabsartinib", 1), canary(1, "Trovaxolol", 16), canary(2, "Delparinib", 16),
        canary(3, "Zormicillin", 0),
    ]  # fmt: skip
    names = CoinedNames(canaries, ["Lunegatran", "Bosevaptan"])
    for text in ("takes TROVAXOLOL daily", "premabsartinibs", "Zormicillin", "Bosevaptan and Bosevaptan", "Lunegatra"):
        names.look(text)
    # A canary that the coin left out is an unplanted name.
    assert names.count() == Count(train=3, train_hits=2, held_out=3, held_out_hits=2)
    assert names.by_multiplicity() == {1: (1, 1), 16: (1, 2)}
