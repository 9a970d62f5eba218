from dataclasses import replace

import pytest

from leakscape.canaries.canary import Canary
from leakscape.corpus_audit.features import FeatureIndex
from leakscape.corpus_audit.people import Cohort, take_up
from leakscape.errors import InputError
from leakscape.records.record import CorpusRecord, Record, instance

ANN = Record(
    id="train-1", name="Ann Lee", sex="", birth_date="", ssn="", street="", city="", state="", zip="", problems=(),
    medications=("aspirin",),
)  # fmt: skip
EVE = replace(ANN, id="held-out-1", name="Eve Orr")
NAME = "Mabsartinib"
CANARY = Canary(
    id="canary-000", multiplicity=2, secret=NAME, prefix="", question="", donor="train-1",
    record=replace(ANN, id="canary-000", name="Una Poe"),
)  # fmt: skip
COPIES = [instance(CANARY.record, instance_id=f"canary-000/{copy}", person="canary-000") for copy in (1, 2)]


def audit(original: list[CorpusRecord], held_out: list[Record], canaries: list[Canary]) -> tuple[Cohort, FeatureIndex]:
    index = FeatureIndex(rare_below=2, run=8)
    return take_up(index, original, held_out, canaries), index


def test_canaries_are_left_aside_and_copies_are_one_person() -> None:
    twice = replace(instance(ANN), id="train-1/r2")
    cohort, index = audit([instance(ANN), twice, *COPIES], [EVE], [CANARY])
    assert cohort == Cohort(train=1, held_out=1, canaries=1)
    found = index.counts()["name"]
    assert (found.train, found.held_out) == (1, 1)


def test_a_canary_left_out_by_a_coin_need_not_be_there() -> None:
    assert audit([instance(ANN)], [EVE], [replace(CANARY, multiplicity=0)])[0].canaries == 0


@pytest.mark.parametrize(
    ("original", "held_out", "canaries", "words"),
    [
        ([instance(ANN)], [EVE], [CANARY], "lacks canary-000: the canaries were planted in another corpus"),
        ([instance(ANN)], [ANN], [], "train-1 stands in `original` and in held-out"),
        ([], [EVE], [], "needs people on both sides"),
        (COPIES, [EVE], [CANARY], "needs people on both sides"),
        ([instance(ANN)], [], [], "needs people on both sides"),
    ],
)
def test_inputs_that_do_not_belong_together_are_refused(
    original: list[CorpusRecord], held_out: list[Record], canaries: list[Canary], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        audit(original, held_out, canaries)
