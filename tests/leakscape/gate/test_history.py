from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import ArtifactError
from leakscape.gate import history
from leakscape.gate.history import Entry
from leakscape.landscape.schema import Estimate
from leakscape.storage import Kept, TakenError
from leakscape.storage.folder import FolderPlace
from leakscape.storage.place import checked


class Memory(FolderPlace):
    """A place in a dictionary."""

    def __init__(self) -> None:
        super().__init__(Path("memory"))
        self.content: dict[str, bytes] = {}

    def names(self, under: str = "") -> list[str]:
        return sorted(name for name in self.content if name.startswith(under))

    def read(self, name: str) -> Kept:
        return Kept(content=self.content[name], tag="")

    def create(self, name: str, content: bytes) -> str:
        if name in self.content:
            raise TakenError(name)
        self.content[checked(name)] = content
        return ""


def entry(audit: str, plan: str = "small", target: str = "tiny") -> Entry:
    return Entry(
        schema=history.SCHEMA, plan=plan, target=target, audit=audit * 32, date="2026-01-02T03:04:05+00:00",
        passed=True, figures={"direct": {"exposure_bits": Estimate(value=6.0, low=5.0, high=None, n=20)}},
        canaries="c", held_out="h", scores={"direct": {"exposure_bits": {"canary-000": 7.5}}},
    )  # fmt: skip


def test_entries_come_back_in_the_order_of_their_coming():
    store = Memory()
    audits = ["ff", "00", "aa"]
    assert all(history.append(store, entry(audit)) for audit in audits)
    assert history.entries(store, "small", "tiny") == [entry(audit) for audit in audits]
    assert next(iter(store.content)) == f"small/tiny/000001-{'f' * 16}.json"


def test_an_audit_is_kept_once():
    store = Memory()
    assert history.append(store, entry("ab"))
    before = dict(store.content)
    assert not history.append(store, replace(entry("ab"), date="2027-01-01T00:00:00+00:00"))
    assert store.content == before


def test_plans_and_targets_stand_apart():
    store = Memory()
    for plan, target in (("small", "tiny"), ("small", "tiny-2"), ("small-2", "tiny"), ("small", "org/model")):
        assert history.append(store, entry("ab", plan, target))
    assert [item.target for item in history.entries(store, "small", "tiny")] == ["tiny"]
    assert [item.target for item in history.entries(store, "small", "org/model")] == ["org/model"]
    assert any("org%2Fmodel" in name for name in store.content)


def test_the_thousandth_audit_follows_the_999th():
    store = Memory()
    for number in (999_999, 1_000_000, 2):
        store.content[f"small/tiny/{number:06d}-{'0' * 16}.json"] = b""
    assert history.append(store, entry("ab"))
    assert f"small/tiny/1000001-{'ab' * 8}.json" in store.content


def test_a_target_whose_name_begins_with_a_dot_is_not_hidden(tmp_path: Path):
    place = FolderPlace(tmp_path / "history")
    assert history.append(place, entry("ab", target=".cache"))
    assert history.entries(place, "small", ".cache") == [entry("ab", target=".cache")]


def test_strangers_are_let_be_and_damage_is_named():
    store = Memory()
    store.content["small/tiny/README.md"] = b"notes"
    assert history.entries(store, "small", "tiny") == []
    history.append(store, entry("ab"))
    (name,) = [name for name in store.content if name.endswith(".json")]
    store.content[name] = store.content[name].replace(b'"passed":true', b'"passed":"yes"')
    with pytest.raises(ArtifactError, match=f"{name} in the history: passed does not fit"):
        history.entries(store, "small", "tiny")
    store.content[name] = b"{"
    with pytest.raises(ArtifactError, match="in the history"):
        history.entries(store, "small", "tiny")


def test_an_audit_is_not_before_itself():
    found = [entry("aa"), entry("bb"), entry("cc")]
    assert history.before(found, "cc" * 32) == found[:2]
    assert history.before(found, "dd" * 32) == found


@given(st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), max_size=12))
def test_whatever_is_published_stands_there_once_in_the_order_of_its_first_coming(audits: list[str]):
    store = Memory()
    for audit in audits:
        history.append(store, entry(audit))
    assert [item.audit for item in history.entries(store, "small", "tiny")] == [
        audit * 32 for audit in dict.fromkeys(audits)
    ]
