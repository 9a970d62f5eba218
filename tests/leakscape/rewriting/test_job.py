"""A scripted backend stands for a model: what it answers is known, so what the job makes of it can be told."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape.errors import InputError, IntegrityError
from leakscape.rewriting.acceptance import Outcome
from leakscape.rewriting.backend import Answer, Request
from leakscape.rewriting.job import Job, Result, Settings, Source, Stage
from leakscape.rewriting.ledger import FileLedger, Ledger, MemoryLedger
from leakscape.rewriting.prompts import stages

SOURCES = [Source(id=f"train-{number:06d}", text=f"record {number}") for number in range(1, 6)]


class Scripted:
    """Answers by a rule; counts what it was asked."""

    model = "scripted"

    def __init__(self, rule: Callable[[Request, int], Answer | None]) -> None:
        self.rule = rule
        self.asked: list[str] = []

    def answers(self, requests: Sequence[Request]) -> Iterator[Answer]:
        for request in reversed(requests):
            self.asked.append(request.id)
            answer = self.rule(request, self.asked.count(request.id))
            if answer is not None:
                yield answer


def good(request: Request, _: int) -> Answer:
    return Answer(id=request.id, text=f"rewritten {request.source}", finish="stop", tokens_in=10, tokens_out=20)


def job(backend: Scripted, ledger: Ledger | None = None, *, strategy: str = "rewrite", **settings: object) -> Job:
    return Job(
        backend=backend,
        ledger=ledger or MemoryLedger(),
        stages=stages(strategy, ["one", "two"]),
        settings=Settings(**settings),  # type: ignore[arg-type]
    )


def test_answers_in_any_order_are_joined_by_id() -> None:
    result = job(Scripted(good)).run(SOURCES)
    assert result.texts == {source.id: f"rewritten {source.text}" for source in SOURCES}
    assert [entry.request for entry in result.entries] == [f"{source.id}|rewrite" for source in SOURCES]


def test_a_bad_answer_is_asked_again_with_another_seed() -> None:
    seeds: list[int] = []

    def rule(request: Request, time: int) -> Answer:
        if request.id.startswith("train-000002"):
            seeds.append(request.seed)
            if time < 3:
                return Answer(id=request.id, text="", finish="length" if time == 1 else "stop")
        return good(request, time)

    result = job(Scripted(rule)).run(SOURCES)
    assert len(result.texts) == 5
    assert [entry.outcome for entry in result.entries if entry.request.startswith("train-000002")] == [
        "truncated",
        "empty",
        "accepted",
    ]
    assert len(set(seeds)) == 3


def test_what_stays_bad_is_quarantined_and_counted() -> None:
    def rule(request: Request, time: int) -> Answer:
        declines = request.id.startswith("train-000004")
        return Answer(id=request.id, text="", finish="refusal") if declines else good(request, time)

    backend = Scripted(rule)
    result = job(backend, attempts=2).run(SOURCES)
    assert result.quarantined == {"train-000004": "refused"}
    assert set(result.texts) == {source.id for source in SOURCES} - {"train-000004"}
    assert backend.asked.count("train-000004|rewrite") == 2


def test_an_answer_that_never_comes_counts_as_a_failure() -> None:
    backend = Scripted(lambda request, time: None if request.id.startswith("train-000001") else good(request, time))
    result = job(backend, attempts=2).run(SOURCES)
    assert result.quarantined == {"train-000001": "failed"}


class Doubling(Scripted):
    def answers(self, requests: Sequence[Request]) -> Iterator[Answer]:
        for answer in super().answers(requests):
            yield answer
            yield Answer(id=answer.id, text="a second answer", finish="stop")


def test_a_second_answer_is_left_aside_and_counted() -> None:
    result = job(Doubling(good)).run(SOURCES)
    assert result.duplicates == 5
    assert "a second answer" not in result.texts.values()


def test_an_answer_to_nobody_stops_the_job() -> None:
    stranger = Scripted(lambda request, _: Answer(id=request.id + "x", text="text", finish="stop"))
    with pytest.raises(IntegrityError, match="which was not asked"):
        job(stranger).run(SOURCES)


def test_ids_that_are_not_unique_stop_the_job() -> None:
    with pytest.raises(IntegrityError, match="not unique"):
        job(Scripted(good)).run([SOURCES[0], SOURCES[0]])


def test_expansion_reads_the_summary_and_never_the_record() -> None:
    prompts: dict[str, str] = {}

    def rule(request: Request, _: int) -> Answer:
        prompts[request.id] = request.prompt
        return Answer(id=request.id, text=f"summary of {request.id}", finish="stop")

    job(Scripted(rule), strategy="summarise-expand").run(SOURCES)
    assert "record 1" in prompts["train-000001|summarise"]
    assert "record 1" not in prompts["train-000001|expand"]
    assert "summary of train-000001|summarise" in prompts["train-000001|expand"]


def test_a_quarantined_summary_is_not_expanded() -> None:
    def rule(request: Request, time: int) -> Answer:
        fails = request.id == "train-000001|summarise"
        return Answer(id=request.id, text="", finish="error", reason="Timeout") if fails else good(request, time)

    backend = Scripted(rule)
    result = job(backend, strategy="summarise-expand", attempts=1).run(SOURCES)
    assert result.quarantined == {"train-000001": "failed"}
    assert "train-000001|expand" not in backend.asked


# 5 answers of 10 tokens in at 1.00 a million and 20 out at 2.00 a million: 5 * (10 + 40) / 1e6
def test_cost_is_added_up_from_tokens() -> None:
    result = job(Scripted(good), price_in=1.0, price_out=2.0).run(SOURCES)
    assert sum(entry.cost for entry in result.entries) == pytest.approx(250e-6)


def test_the_ceiling_on_spend_stops_the_job_and_keeps_the_answers() -> None:
    ledger = MemoryLedger()
    half = Scripted(lambda request, time: good(request, time) if request.id != "train-000001|rewrite" else None)
    with pytest.raises(InputError, match="--max-cost"):
        job(half, ledger, price_out=1e6, max_cost=40).run(SOURCES)
    assert len(list(ledger.entries())) == 5
    resumed = Scripted(good)
    assert len(job(resumed, ledger, price_out=1e6).run(SOURCES).texts) == 5
    assert resumed.asked == ["train-000001|rewrite"]


def unsteady(request: Request, _: int) -> Answer:
    """Depends on the request alone, as a seeded model does: some answers are cut off, whenever they are asked."""
    if request.seed % 3 == 0:
        return Answer(id=request.id, text="half of it", finish="length")
    return Answer(id=request.id, text=f"rewritten {request.source} with {request.seed}", finish="stop")


class KilledError(Exception):
    pass


@given(st.lists(st.integers(1, 12), min_size=1, max_size=10), st.sampled_from(["rewrite", "summarise-expand"]))
def test_a_job_killed_at_any_answers_gives_what_one_run_gives(kills: list[int], strategy: str) -> None:
    whole = job(Scripted(unsteady), strategy=strategy).run(SOURCES)
    ledger, asked = MemoryLedger(), 0
    for after in kills:
        backend = Scripted(unsteady)
        answered = iter(range(after))

        def rule(request: Request, time: int, answered: Iterator[int] = answered) -> Answer:
            if next(answered, None) is None:
                raise KilledError
            return unsteady(request, time)

        backend.rule = rule
        try:
            job(backend, ledger, strategy=strategy).run(SOURCES)
        except KilledError:
            backend.asked.pop()
        asked += len(backend.asked)
    last = Scripted(unsteady)
    resumed = job(last, ledger, strategy=strategy).run(SOURCES)
    assert (resumed.texts, resumed.quarantined, resumed.entries) == (whole.texts, whole.quarantined, whole.entries)
    assert asked + len(last.asked) == len(whole.entries)


def test_resuming_from_a_file_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    def run(backend: Scripted, sources: Sequence[Source]) -> Result:
        ledger = FileLedger(tmp_path / "job.jsonl")
        try:
            return job(backend, ledger).run(sources)
        finally:
            ledger.close()

    run(Scripted(good), SOURCES[:3])
    second = Scripted(good)
    assert len(run(second, SOURCES).texts) == 5
    assert sorted(second.asked) == ["train-000004|rewrite", "train-000005|rewrite"]


def test_a_stage_decides_what_it_accepts_and_which_schema_it_asks_for() -> None:
    schemas: list[object] = []

    def rule(request: Request, time: int) -> Answer:
        schemas.append(request.schema)
        return good(request, time)

    def odd_only(answer: Answer) -> Outcome:
        return "accepted" if answer.id[11] in "135" else "invalid"

    stage = Stage(name="ask", prompt=str.upper, accept=odd_only, schema={"type": "string"})
    chosen = Settings(attempts=1)
    result = Job(backend=Scripted(rule), ledger=MemoryLedger(), stages=[stage], settings=chosen).run(SOURCES)
    assert sorted(result.texts) == ["train-000001", "train-000003", "train-000005"]
    assert result.quarantined == {"train-000002": "invalid", "train-000004": "invalid"}
    assert schemas == [{"type": "string"}] * 5
