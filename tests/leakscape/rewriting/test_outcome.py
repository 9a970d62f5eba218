from typing import Annotated

import pytest

from components.judge.contract import Judge
from components.vllm_rewrite.contract import VllmRewrite
from leakscape.contract import Param, component, spec
from leakscape.errors import InputError, IntegrityError
from leakscape.rewriting import parameters as rewriting
from leakscape.rewriting.job import Result
from leakscape.rewriting.ledger import Entry
from leakscape.rewriting.outcome import check_quarantine, counts, job_digest, ledger_row


def entry(outcome: str, tokens: int, cost: float) -> Entry:
    return Entry(
        request="a|judge", attempt=1, outcome=outcome, text="kept in the corpus only", reason="", tokens_in=tokens,
        tokens_out=1, seconds=3.0, cost=cost,
    )  # fmt: skip  # type: ignore[arg-type]


@component(name="toy-asking", image="base")
class Asking:
    """Ask a model."""

    model: Annotated[str, Param("Which.")] = "m"
    seed: Annotated[int, Param("Sampling.")] = 0
    ledger_dir: rewriting.LedgerDir = ""
    attempts: rewriting.Attempts = 3


def test_a_job_is_another_one_exactly_if_its_answers_may_differ() -> None:
    name = job_digest(Asking(), ["in"])
    assert job_digest(Asking(ledger_dir="s3://bucket/kept", attempts=9), ["in"]) == name
    others = [
        job_digest(Asking(seed=1), ["in"]),
        job_digest(Asking(model="n"), ["in"]),
        job_digest(Asking(), ["other"]),
    ]
    assert len({name, *others}) == 4
    assert job_digest(Asking(seed=1), ["in"], skip=["seed"]) == job_digest(Asking(), ["in"], skip=["seed"])


def test_what_is_operational_is_stated_with_each_parameter() -> None:
    """The set that ledgers were named by so far: they are found again."""
    names = {"attempts", "max_quarantined", "key_variable", "base_url", "concurrency", "timeout", "retries", "price_in"}
    names |= {"price_out", "max_cost", "tensor_parallel", "batch_size", "device", "ledger_dir"}
    assert spec(VllmRewrite).operational == spec(Judge).operational == names


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
