"""A gate and a history, over two audits: the second one leaks more."""

# ruff: noqa: ANN401 - settings of a contract

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import audit_fakes
import pytest

from components.landscape.contract import Landscape
from components.landscape.run import run
from leakscape import artifacts, schemas
from leakscape.errors import ContractError, InputError
from leakscape.gate import history
from leakscape.landscape import verdict
from leakscape.landscape.verdict import Verdict
from leakscape.scoring.measurements import read
from leakscape.storage import open_place

CONDITIONS = ("none", "direct", "dp-8")


@pytest.fixture(autouse=True)
def _no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages take seconds to draw and are not looked at here."""
    monkeypatch.setattr("leakscape.landscape.report.render", lambda *_: "")


def rule(condition: str, **changes: Any) -> dict[str, Any]:
    return {"metric": "exposure_bits", "condition": condition, "bound": "high", "at_most": 3.0, **changes}


def audit(folder: Path, gate: list[dict[str, Any]], **changes: Any) -> tuple[Landscape, Verdict]:
    made = Landscape(
        measurements=changes.pop("measurements", None) or tuple(audit_fakes.laptop(folder / "in", CONDITIONS)),
        evidence=(),
        plan={**audit_fakes.PLAN, "name": "nightly"},
        resamples=200,
        gate=gate,
        landscape=folder / "landscape",
        report=folder / "report.html",
        verdict=folder / "verdict",
        **changes,
    )
    run(made)
    return made, verdict.read(made.verdict)


def publish(made: Landscape, place: str, date: str) -> None:
    with open_place(place) as opened:
        for entry in artifacts.load(made.verdict, schema=schemas.VERDICT).rows(verdict.ENTRIES, history.Entry):
            assert history.append(opened, replace(entry, date=date))


def test_the_gate_fails_what_leaks_and_passes_what_does_not(tmp_path: Path):
    _, found = audit(tmp_path, [rule("direct"), rule("dp-8")])
    assert [held.outcome for held in found.rules] == ["failed", "passed"]
    assert not found.passed
    assert found.landscape == artifacts.read_manifest(tmp_path / "landscape").digest
    assert found.notes == ["No rule asks for capability: a defence that teaches the model nothing would pass."]


def test_without_a_gate_a_verdict_says_so(tmp_path: Path):
    _, found = audit(tmp_path, [])
    assert found.passed
    assert found.notes == ["The plan has no gate: nothing was held against a limit."]
    assert found.drift == []


def test_a_faulty_rule_ends_the_step_before_anything_is_written(tmp_path: Path):
    with pytest.raises(ContractError, match="needs one limit"):
        audit(tmp_path, [{"metric": "exposure_bits", "condition": "direct", "bound": "high"}])
    assert not (tmp_path / "landscape").exists()


def test_a_second_audit_is_paired_with_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = str(tmp_path / "history")
    since = rule("direct", metric="verbatim_perplexity", against="last", bound="high", at_least=1.0, at_most=None)
    since = {key: value for key, value in since.items() if value is not None}
    first, found = audit(tmp_path / "1", [since], history=place)
    assert [held.outcome for held in found.rules] == ["skipped"]
    assert found.rules[0].reason == "there is no earlier audit of this plan and target."
    publish(first, place, "2026-01-01T03:00:00+00:00")

    # The same audit again drifts against nothing: it is not its own past.
    _, again = audit(tmp_path / "again", [since], history=place, measurements=first.measurements)
    assert again.drift == []
    assert again.history == {}

    base, doubling, held_out, bits = audit_fakes.LEAKS["direct"]
    monkeypatch.setitem(audit_fakes.LEAKS, "direct", (base / 2, doubling, held_out, bits))
    _, worse = audit(tmp_path / "2", [since], history=place)
    assert [held.outcome for held in worse.rules] == ["failed"]
    changed = {(item.condition, item.metric): item for item in worse.drift}
    drift = changed["direct", "verbatim_perplexity"]
    assert drift.value == pytest.approx(geometric_mean_ratio(first, tmp_path / "2" / "in"), rel=1e-9)
    assert drift.high is not None
    assert drift.high < 1
    assert drift.p_holm < 0.05
    assert changed["dp-8", "verbatim_perplexity"].value == 1.0
    assert changed["direct", "held_out_perplexity"].value == 1.0
    assert not any("did not pass" in note for note in worse.notes)
    (past,) = worse.history["tiny"]
    assert (past.audit, past.date) == (found.landscape, "2026-01-01T03:00:00+00:00")
    assert past.figures["direct"]["exposure_bits"].n == 25


def test_a_leak_that_became_the_past_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Night 2 leaks more and fails; night 3 leaks as much, so that nothing has changed since the last audit."""
    place = str(tmp_path / "history")
    since = rule("direct", against="last", bound="low", at_most=0.0)
    first, _ = audit(tmp_path / "1", [since], history=place)
    publish(first, place, "2026-01-01T03:00:00+00:00")
    base, doubling, held_out, bits = audit_fakes.LEAKS["direct"]
    monkeypatch.setitem(audit_fakes.LEAKS, "direct", (base, doubling, held_out, bits + 0.6))
    second, worse = audit(tmp_path / "2", [since], history=place)
    assert not worse.passed
    publish(second, place, "2026-01-02T03:00:00+00:00")
    _, third = audit(tmp_path / "3", [since], history=place, seed=1, measurements=second.measurements)
    assert third.passed
    assert "tiny: the last audit did not pass its gate, so no change since then is no sign of safety." in third.notes


def test_other_canaries_are_not_paired(tmp_path: Path):
    place = str(tmp_path / "history")
    first, _ = audit(tmp_path / "1", [], history=place)
    publish(first, place, "2026-01-01T03:00:00+00:00")
    with open_place(place) as opened:
        (name,) = opened.names()
    file = tmp_path / "history" / name
    other = file.read_text(encoding="utf-8").replace('"canaries":"ca0000"', '"canaries":"0ther"')
    file.unlink()
    file.write_text(other.replace(first_digest(first), "ff" * 32), encoding="utf-8")
    since = rule("direct", against="last")
    _, found = audit(tmp_path / "2", [since], history=place)
    assert found.rules[0].outcome == "skipped"
    assert found.rules[0].reason == "the last audit used other canaries, so nothing can be paired."
    assert {item.metric for item in found.drift} == {"held_out_perplexity", "medication_perplexity"}


def geometric_mean_ratio(first: Landscape, folder: Path) -> float:
    """Of verbatim perplexities under `direct`, canary by canary, now over then."""
    before = read(first.measurements[1]).of("verbatim")
    after = read(folder / "measurements-direct").of("verbatim")
    logs = [
        then.log_likelihood / then.tokens - now.log_likelihood / now.tokens
        for then, now in zip(before, after, strict=True)
    ]
    return math.exp(sum(logs) / len(logs))


def first_digest(made: Landscape) -> str:
    return artifacts.read_manifest(made.landscape).digest


def test_a_history_that_is_no_folder_is_refused_before_anything_is_written(tmp_path: Path):
    (tmp_path / "history").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="history is a file"):
        audit(tmp_path / "1", [], history=str(tmp_path / "history"))
    assert not (tmp_path / "1" / "landscape").exists()
