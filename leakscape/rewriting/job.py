"""A job: every text through every stage, every answer kept, none lost and none paid for twice.

Rewriting and judging are both jobs; what they ask and which answers they accept is in their stages.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leakscape.errors import InputError, IntegrityError
from leakscape.progress import track
from leakscape.rewriting.acceptance import Outcome, judge
from leakscape.rewriting.backend import Answer, Backend, Request, request_seed
from leakscape.rewriting.ledger import Entry, Ledger
from leakscape.termination import deferred

_BATCH = 256
"""Requests handed to a backend at once; a job that is killed loses at most the answers under way."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """One text to ask about; `id` names its answer (`train-000001`, `canary-007/3`, with `/r2` for a second copy)."""

    id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One call for each text; the texts of the next stage are its answers.

    Args:
        name: stands in the ids of the requests.
        prompt: from a text to what the model reads.
        accept: decides what an answer is worth.
        schema: a JSON schema that answers have to fit, for backends that can hold a model to one.
    """

    name: str
    prompt: Callable[[str], str]
    accept: Callable[[Answer], Outcome] = judge
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a job is run.

    Args:
        attempts: how often a request is asked before it is quarantined.
        seed: drives sampling, with the request's id and the attempt.
        price_in, price_out: cost of a million tokens.
        max_cost: the job stops before a request once this much is spent; 0 for no ceiling.
    """

    attempts: int = 3
    seed: int = 0
    price_in: float = 0.0
    price_out: float = 0.0
    max_cost: float = 0.0


@dataclass(kw_only=True)
class Result:
    """What a job made.

    Args:
        texts: the final answer of each source that has one, by id.
        quarantined: the ids of the sources that have none, with the outcome of the last attempt.
        entries: every answer in use, in the order of sources, stages and attempts.
        duplicates: answers that came a second time and were left aside.
    """

    texts: dict[str, str] = field(default_factory=dict)
    quarantined: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    duplicates: int = 0


class Job:
    """Runs stages over the sources, through one backend and one ledger."""

    def __init__(self, *, backend: Backend, ledger: Ledger, stages: Sequence[Stage], settings: Settings) -> None:
        self._backend, self._ledger, self._stages, self._settings = backend, ledger, stages, settings
        self._known: dict[tuple[str, int], Entry] = {}
        self._spent = 0.0
        self._duplicates = 0
        for entry in ledger.entries():
            self._keep(entry)

    def run(self, sources: Sequence[Source]) -> Result:
        """Have every source answered.

        Returns:
            Texts and quarantined ids; together they are exactly the sources' ids.

        Raises:
            InputError: the spending ceiling is reached, or the backend refuses us. What was answered is kept.
            IntegrityError: ids are not unique, or an answer names no request of ours.
        """
        if len({source.id for source in sources}) != len(sources):
            raise IntegrityError("the ids of the records to ask about are not unique.")
        result = Result()
        current = {source.id: source.text for source in sources}
        for stage in self._stages:
            finals = self._stage(stage, current, result)
            result.quarantined |= {key: entry.outcome for key, entry in finals.items() if entry.outcome != "accepted"}
            current = {key: finals[key].text for key in current if finals[key].outcome == "accepted"}
        result.texts, result.duplicates = current, self._duplicates
        return result

    def _stage(self, stage: Stage, sources: dict[str, str], result: Result) -> dict[str, Entry]:
        finals: dict[str, Entry] = {}
        for attempt in range(1, self._settings.attempts + 1):
            waiting = {key: text for key, text in sources.items() if key not in finals}
            for key, entry in zip(waiting, self._attempt(stage, waiting, attempt), strict=True):
                result.entries.append(entry)
                if entry.outcome == "accepted" or attempt == self._settings.attempts:
                    finals[key] = entry
        return finals

    def _attempt(self, stage: Stage, waiting: dict[str, str], attempt: int) -> list[Entry]:
        """One entry for each waiting source, in order: from the ledger where it is known, else asked for."""
        names = {f"{key}|{stage.name}": text for key, text in waiting.items()}
        missing = [
            self._request(stage, name, text, attempt) for name, text in names.items() if not self._has(name, attempt)
        ]
        batches = [missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
        what = f"{stage.name}, attempt {attempt}"
        answers = (answer for batch in batches for answer in self._ask(batch))
        for answer in track(answers, total=len(missing), what=what) if missing else ():
            self._record(stage, answer, attempt)
        return [self._known[name, attempt] for name in names]

    def _ask(self, batch: Sequence[Request]) -> Iterator[Answer]:
        if self._settings.max_cost and self._spent >= self._settings.max_cost:
            raise InputError(
                f"{self._spent:.2f} of --max-cost {self._settings.max_cost:.2f} is spent; what was answered is kept: "
                "raise the ceiling and run again to go on."
            )
        open_ids = {request.id for request in batch}
        asked = frozenset(open_ids)
        for answer in self._backend.answers(batch):
            if answer.id not in asked:
                raise IntegrityError(f"an answer came for {answer.id}, which was not asked in this batch.")
            if answer.id not in open_ids:
                self._duplicates += 1
                continue
            open_ids.remove(answer.id)
            yield answer
        for missing in sorted(open_ids):
            yield Answer(id=missing, text="", finish="error", reason="no answer came")

    def _record(self, stage: Stage, answer: Answer, attempt: int) -> None:
        outcome = stage.accept(answer)
        prices = self._settings
        entry = Entry(
            request=answer.id,
            attempt=attempt,
            outcome=outcome,
            text=answer.text.strip() if outcome == "accepted" else "",
            reason=answer.reason,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            seconds=answer.seconds,
            cost=(answer.tokens_in * prices.price_in + answer.tokens_out * prices.price_out) / 1e6,
        )
        with deferred():  # an answer that was had is kept, whatever comes meanwhile
            self._ledger.append([entry])
        self._keep(entry)

    def _request(self, stage: Stage, name: str, text: str, attempt: int) -> Request:
        seed = request_seed(self._settings.seed, name, attempt)
        return Request(id=name, prompt=stage.prompt(text), source=text, seed=seed, schema=stage.schema)

    def _has(self, name: str, attempt: int) -> bool:
        return (name, attempt) in self._known

    def _keep(self, entry: Entry) -> None:
        self._known[entry.request, entry.attempt] = entry
        self._spent += entry.cost
