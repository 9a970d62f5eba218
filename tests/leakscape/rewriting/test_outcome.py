import pytest

from leakscape.errors import InputError, IntegrityError
from leakscape.rewriting.job import Result
from leakscape.rewriting.ledger import Entry
from leakscape.rewriting.outcome import OPERATIONAL, check_quarantine, counts, job_digest, ledger_row


def entry(outcome: str, tokens: int, cost: float) -> Entry:
    return Entry(
        request="a|judge", attempt=1, outcome=outcome, text="kept in the corpus only", reason="", tokens_in=tokens,
        tokens_out=1, seconds=3.0, cost=cost,
    )  # fmt: skip  # type: ignore[arg-type]


def test_a_job_is_another_one_exactly_if_its_answers_may_differ() -> None:
    base = {"model": "m", "seed": 0, **dict.fromkeys(sorted(OPERATIONAL), 1)}
    name = job_digest(base, ["in"])
    assert all(job_digest(base | {setting: 2}, ["in"]) == name for setting in OPERATIONAL)
    assert len({name, job_digest(base | {"seed": 1}, ["in"]), job_digest(base, ["other"])}) == 3
    assert job_digest(base | {"seed": 1}, ["in"], skip=OPERATIONAL | {"seed"}) == job_digest(
        base, ["in"], skip=OPERATIONAL | {"seed"}
    )


def test_counts_and_rows_hold_no_text() -> None:
    result = Result(entries=[entry("accepted", 5, 0.25), entry("empty", 7, 0.5)], quarantined={"b": "empty"})
    assert counts(result) == {
        "quarantined": {"b": "empty"},
        "answers": {"accepted": 1, "empty": 1},
        "duplicate_answers": 0,
        "tokens_in": 12,
        "tokens_out": 2,
        "cost": 0.75,
    }
    assert set(ledger_row(result.entries[0])) == {
        "request", "attempt", "outcome", "reason", "tokens_in", "tokens_out", "cost",
    }  # fmt: skip


def test_what_was_lost_is_a_fault_and_what_was_quarantined_is_weighed() -> None:
    result = Result(texts={"a": "x"}, quarantined={"b": "empty"})
    check_quarantine(result, 2, most=0.5, what="rewrites", remedy="do better.")
    with pytest.raises(InputError, match=r"50\.0% of the rewrites had to be quarantined \(1 empty\).*do better"):
        check_quarantine(result, 2, most=0.49, what="rewrites", remedy="do better.")
    with pytest.raises(IntegrityError, match="3 rewrites were wanted, but 1 came and 1 are quarantined"):
        check_quarantine(result, 3, most=1, what="rewrites", remedy="")
    with pytest.raises(InputError, match="holds no record"):
        check_quarantine(Result(), 0, most=1, what="rewrites", remedy="")
