import re

import pytest

from leakscape.errors import InputError
from leakscape.records import ssn


@pytest.mark.parametrize("stream", ssn.STREAMS)
def test_numbers_were_never_issued_as_ssn_or_itin(stream: str):
    # Areas 900 to 998, groups 01 to 49: ITINs use groups from 50 up, Synthea uses area 999.
    number = ssn.numbers(stream, 0)
    for index in (*range(2000), ssn.CAPACITY - 1):
        match = re.fullmatch(r"9(\d\d)-(\d\d)-(\d{4})", number(index))
        assert match
        assert int(match[1]) <= 98
        assert 1 <= int(match[2]) <= 49
        assert int(match[3]) >= 1


def test_every_stream_holds_a_million_people():
    assert ssn.CAPACITY == 99 * 49 * 9999 // 16 == 3_031_571
    assert len(ssn.STREAMS) <= 16


def test_streams_share_no_number_whatever_their_seeds(monkeypatch: pytest.MonkeyPatch):
    # The whole of a small space, counted: 4 areas x 3 groups x 20 serials in 16 slots of 15.
    for name, value in {"_AREAS": 4, "_GROUPS": 3, "_SERIALS": 20, "_SPACE": 240, "CAPACITY": 15}.items():
        monkeypatch.setattr(ssn, name, value)
    owners: dict[str, set[str]] = {}
    for stream in ssn.STREAMS:
        for seed in range(5):
            number = ssn.numbers(stream, seed)
            drawn = {number(index) for index in range(15)}
            assert len(drawn) == 15
            for each in drawn:
                owners.setdefault(each, set()).add(stream)
    assert all(len(streams) == 1 for streams in owners.values())
    assert len(owners) == 15 * len(ssn.STREAMS)


def test_no_two_of_a_hundred_thousand_are_alike():
    number = ssn.numbers("train", 3)
    assert len({number(index) for index in range(100_000)}) == 100_000


def test_a_number_does_not_show_its_stream():
    # Each stream's numbers spread over all 99 areas about evenly: 5,000 draws, 50.5 an area, sd about 7.
    for stream in ssn.STREAMS:
        number = ssn.numbers(stream, 1)
        areas = [number(index)[:3] for index in range(5000)]
        assert len(set(areas)) == 99
        assert max(map(areas.count, set(areas))) < 90


def test_an_unknown_stream_is_refused():
    with pytest.raises(InputError, match="no stream 'training' of people: choose one of train, held-out"):
        ssn.numbers("training", 0)
