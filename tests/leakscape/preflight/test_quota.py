import json
from pathlib import Path
from typing import Any

import pytest

from leakscape.preflight import quota as module
from leakscape.preflight.findings import State
from leakscape.preflight.quota import quota

GPU = "nvidia.com/gpu"
NAME = f"requests.{GPU}"


def state(monkeypatch: pytest.MonkeyPatch, count: int, *statuses: dict[str, Any]) -> tuple[State, str]:
    monkeypatch.setattr(module, "_read", lambda *_: list(statuses))
    found = quota(GPU, count, {})
    assert found.name == NAME
    return found.state, found.words


def test_room_is_what_is_granted_less_what_is_used(monkeypatch: pytest.MonkeyPatch):
    status = {"hard": {NAME: "8"}, "used": {NAME: "5"}}
    assert state(monkeypatch, 2, status) == (State.FINE, "3 left, a step asks for 2.")
    assert state(monkeypatch, 4, status) == (State.FINE, "3 left, a step asks for 4; it waits until others are done.")


def test_what_can_never_be_had_is_missing(monkeypatch: pytest.MonkeyPatch):
    found, words = state(monkeypatch, 4, {"hard": {NAME: "8"}}, {"hard": {NAME: "2"}, "used": {NAME: "0"}})
    assert found is State.MISSING
    assert "more than the namespace may ever have" in words


def test_no_quota_is_no_limit(monkeypatch: pytest.MonkeyPatch):
    assert state(monkeypatch, 4, {"hard": {"requests.cpu": "8"}}) == (State.FINE, "the namespace has no quota of it.")
    assert state(monkeypatch, 4)[0] is State.FINE


def test_thousands_are_read(monkeypatch: pytest.MonkeyPatch):
    assert state(monkeypatch, 4, {"hard": {NAME: "2k"}})[1] == "2000 left, a step asks for 4."


@pytest.mark.parametrize("environment", [{}, {"KUBERNETES_SERVICE_HOST": "127.0.0.1"}])
def test_outside_a_cluster_it_is_not_known(environment: dict[str, str], tmp_path: Path):
    found = quota(GPU, 1, environment, account=tmp_path)
    assert found.state is State.UNKNOWN


def test_an_answer_that_is_none_is_not_known(monkeypatch: pytest.MonkeyPatch):
    def read(*_: object) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads("{}")["items"]
        return found

    monkeypatch.setattr(module, "_read", read)
    assert quota(GPU, 1, {}).state is State.UNKNOWN
