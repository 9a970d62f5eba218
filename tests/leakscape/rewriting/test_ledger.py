from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leakscape.errors import ArtifactError, InputError
from leakscape.rewriting.ledger import Entry, FileLedger, MemoryLedger, open_ledger

ENTRY = Entry(
    request="train-000001|rewrite",
    attempt=1,
    outcome="accepted",
    text="Zoë O\u2019Brien\u2028takes \u201clisinopril\u201d.",
    reason="",
    tokens_in=12,
    tokens_out=34,
    seconds=0.5,
    cost=0.001,
)


def test_entries_outlive_the_process(tmp_path: Path) -> None:
    ledger = FileLedger(tmp_path / "job.jsonl")
    ledger.append([ENTRY])
    ledger.append([replace(ENTRY, attempt=2)])
    ledger.close()
    again = FileLedger(tmp_path / "job.jsonl")
    assert list(again.entries()) == [ENTRY, replace(ENTRY, attempt=2)]
    again.close()


@given(cut=st.integers(0, 400))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_line_cut_off_anywhere_is_dropped_and_the_rest_kept(tmp_path: Path, cut: int) -> None:
    path = tmp_path / f"job-{cut}.jsonl"
    path.unlink(missing_ok=True)
    ledger = FileLedger(path)
    ledger.append([ENTRY, replace(ENTRY, attempt=2)])
    ledger.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    kept = FileLedger(path)
    assert len(list(kept.entries())) == whole[:cut].count(b"\n")
    kept.append([replace(ENTRY, attempt=3)])
    assert [entry.attempt for entry in kept.entries()][-1] == 3
    kept.close()


def test_two_runs_of_one_job_exclude_each_other(tmp_path: Path) -> None:
    first = FileLedger(tmp_path / "job.jsonl")
    with pytest.raises(InputError, match="in use by another run"):
        FileLedger(tmp_path / "job.jsonl")
    first.close()
    FileLedger(tmp_path / "job.jsonl").close()


def test_a_damaged_line_is_named_and_its_text_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "job.jsonl"
    path.write_text('{"request": "train-000001|rewrite", "text": "Zoë Secret"}\n')
    ledger = FileLedger(path)
    with pytest.raises(ArtifactError, match=r"job\.jsonl, line 1") as error:
        list(ledger.entries())
    assert "Zoë" not in str(error.value)
    ledger.close()


def test_place_decides_the_kind_of_ledger(tmp_path: Path) -> None:
    assert isinstance(open_ledger("", "job"), MemoryLedger)
    ledger = open_ledger(str(tmp_path / "deep" / "folder"), "job")
    assert isinstance(ledger, FileLedger)
    ledger.close()
