"""Accounting for ids, and draws that every condition shares."""

import pytest
import toys

from leakscape.canaries.canary import Canary
from leakscape.errors import IntegrityError
from leakscape.models.load import assemble
from leakscape.records.record import Record
from leakscape.scoring.measure import Tally, measure
from leakscape.scoring.probes import Probe, record_probes, unplanted_probes

RECORD = Record(
    id="p-1",
    name="Zoë",
    sex="",
    birth_date="",
    ssn="",
    street="",
    city="",
    state="",
    zip="",
    problems=(),
    medications=("Metformin", "Lisinopril"),
)
CANARY = Canary(
    id="canary-001", multiplicity=0, secret=RECORD.medications[-1], prefix="x ", question="?", donor="p", record=RECORD
)


def test_the_last_medication_ends_the_record():
    whole, last = record_probes(RECORD)
    assert (whole.prefix, last.target) == ("", "Lisinopril")
    assert last.prefix + last.target == whole.target


def test_unplanted_names_depend_on_seed_and_canary_alone():
    names = [f"name{number}" for number in range(50)]
    drawn = unplanted_probes(CANARY, names, count=4, seed=1)
    assert drawn == unplanted_probes(CANARY, names, count=4, seed=1)
    assert [each.target for each in drawn] != [each.target for each in unplanted_probes(CANARY, names, count=4, seed=2)]
    assert len({each.target for each in drawn}) == 4
    assert {(each.group, each.multiplicity, each.prefix) for each in drawn} == {("canary-001", 0, "x ")}
    assert len(unplanted_probes(CANARY, names[:2], count=4, seed=1)) == 2


def test_texts_without_a_token_are_left_out_with_their_reason_and_never_nan():
    loaded = assemble(*toys.toy("qwen3_5"), name="qwen3_5")  # has no BOS
    tally = Tally()
    texts = {"a": "", "b": " ", "c": "A", "d": "A medication"}
    probes = [
        Probe(probe="held_out", id=name, group=name, multiplicity=None, prefix="", target=text)
        for name, text in texts.items()
    ]
    measure(tally, loaded, probes, batch_size=2, what="x")
    assert [row.id for row in tally.rows] == ["d"]
    assert [each.id for each in tally.unscorable["held_out"]] == ["a", "b", "c"]
    assert all(each.reason for each in tally.unscorable["held_out"])
    tally.check([("held_out", name) for name in texts])


@pytest.mark.parametrize("expected", [["a"], ["a", "b", "c"], ["a", "c"], ["a", "b", "b"]])
def test_a_lost_new_or_doubled_id_stops_the_step(expected: list[str]):
    tally = Tally()
    tally.leave_out("verbatim", "a", "why")
    tally.leave_out("verbatim", "b", "why")
    tally.check([("verbatim", "b"), ("verbatim", "a")])
    with pytest.raises(IntegrityError, match="lost or doubled"):
        tally.check([("verbatim", name) for name in expected])
