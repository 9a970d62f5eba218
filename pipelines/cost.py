"""What a plan costs, told from its graph alone: counts of work, never hours, which hang on the machine.

Counts of records, steps and requests are exact. Tokens are estimates: the mean length of the built-in population's
records, divided by the characters that make a token. A record that a model refuses or botches is asked again, which is
not counted.
"""

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from leakscape.judging import rubric
from leakscape.judging.pairs import Pair
from leakscape.models.size import Size
from leakscape.records.builtin import generate
from leakscape.records.record import CorpusRecord, instance
from leakscape.rewriting import prompts
from leakscape.rewriting.shards import bounds
from leakscape.training.accounting import schedule
from pipelines.compose import Graph, Step
from pipelines.parameters import CANARIES, EVALUATE, POPULATION, SHARD, SHARDS
from pipelines.power import candidates, dealt
from pipelines.schema import Parameters

CHARACTERS_PER_TOKEN = 3.0
"""Where the model's tokenizer is not on this machine. Records are full of names and numbers, so tokens are short."""

_SAMPLE = 200  # records whose mean length is taken
_REFERENCE_DATE = dt.date(2026, 1, 1)
_ANSWER_CHARACTERS = 250  # two scores and a sentence
_FLOPS = 6  # for a parameter and a token: two forward, four backward (Kaplan et al. 2020)


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training run.

    Args:
        step, title, conditions: of the graph.
        instances: corpus records; None where only the data tell.
        epochs: passes over them, on average under DP-SGD.
        steps: of the optimizer.
        tokens: that pass through the model, estimated.
        flops: 6 for a parameter and a token, as training every weight takes. A LoRA adapter leaves out the gradients of
            the frozen weights and takes about two thirds. None where the number of parameters is not known here.
    """

    step: str
    title: str
    conditions: tuple[str, ...]
    instances: int | None
    epochs: int
    steps: int | None
    tokens: int | None
    flops: float | None


@dataclass(frozen=True, kw_only=True)
class Asking:
    """One step that asks a language model.

    Args:
        step, title, conditions: of the graph.
        requests: if every first answer is good; None where only the data tell.
        tokens_in, tokens_out: estimated; answers are taken to be as long as a record, reasoning left out.
        money: by the step's `price_in` and `price_out`; None where it has none.
    """

    step: str
    title: str
    conditions: tuple[str, ...]
    requests: int | None
    tokens_in: int | None
    tokens_out: int | None
    money: float | None


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """One measurement.

    Args:
        step, title, conditions: of the graph.
        texts: scored or attacked, one each time; None where only the data tell.
        names: scored for exposure.
        continuations: drawn for extraction, a forward pass for each token.
        passes: forward passes for texts and names, about.
        benchmarks: run beside, and not counted.
    """

    step: str
    title: str
    conditions: tuple[str, ...]
    texts: int | None
    names: int
    continuations: int
    passes: int | None
    benchmarks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a plan costs.

    Args:
        characters: mean length of a record of the built-in population.
        training, asking, scoring: the steps that cost something.
        shared: titles of steps that several conditions use, and how many do.
        saved: how many steps are not run a second time.
    """

    characters: float
    training: tuple[Training, ...]
    asking: tuple[Asking, ...]
    scoring: tuple[Scoring, ...]
    shared: tuple[tuple[str, int], ...]
    saved: int


def sample() -> tuple[CorpusRecord, ...]:
    """Records of the built-in population, the same ones always."""
    people = generate(_SAMPLE, seed=0, stream="train", reference_date=_REFERENCE_DATE)
    return tuple(instance(record) for record in people)


def cost_of(graph: Graph, sizes: Mapping[str, Size | None], records: Sequence[CorpusRecord]) -> Cost:
    """Count a plan's work.

    Args:
        graph: as `pipelines.audit.graph` gives it.
        sizes: of the models that are trained, by the name the plan has for them.
        records: from `sample`.

    Raises:
        ContractError: the canaries can't be dealt as the plan says.
        InputError: a lot of DP-SGD does not fit the corpus.
    """
    count = _Counter(graph, sizes, records)
    return Cost(
        characters=count.characters,
        training=tuple(count.training(step) for step in graph.steps if "learning_rate" in step.parameters),
        asking=tuple(filter(None, (count.asking(step) for step in graph.steps))),
        scoring=tuple(count.scoring(step) for step in graph.steps if step.component == EVALUATE),
        shared=tuple((step.title, len(step.conditions)) for step in graph.steps if len(step.conditions) > 1),
        saved=graph.asked - len(graph.steps),
    )


class _Counter:
    def __init__(self, graph: Graph, sizes: Mapping[str, Size | None], records: Sequence[CorpusRecord]) -> None:
        self._graph, self._steps = graph, {step.id: step for step in graph.steps}
        self._sizes, self._records = sizes, records
        self._canaries = dealt(graph)
        population = graph.step(POPULATION).parameters
        self._train: int = population.get("train_count", 0)
        self._held_out: int = population.get("held_out_count", 0)
        self._alternatives: int = graph.step(CANARIES).parameters.get("alternatives", 0)
        self.characters = sum(len(record.text) for record in records) / len(records)

    def training(self, step: Step) -> Training:
        instances, epochs = self._instances(step), step.parameters.get("epochs", 1)
        size = self._sizes.get(step.parameters["model"])
        each = self.characters / ((size and size.characters_per_token) or CHARACTERS_PER_TOKEN)
        steps = _optimizer_steps(step, instances, self._people()) if instances else None
        tokens = instances * epochs * each if instances else None
        parameters = size.parameters if size else None
        return Training(
            step=step.id,
            title=step.title,
            conditions=step.conditions,
            instances=instances,
            epochs=epochs,
            steps=steps,
            tokens=round(tokens) if tokens else None,
            flops=_FLOPS * parameters * tokens if parameters and tokens else None,
        )

    def asking(self, step: Step) -> Asking | None:
        given = step.parameters
        if given.get("backend", "rules") == "rules" or not {"strategy", "rubric"} & given.keys():
            return None
        instances = self._instances(step)
        if "rubric" in given and instances:
            instances = min(instances, given.get("sample") or instances)
        wanted = _part(instances, given) * given.get("copies", 1) if instances else None
        calls = list(self._calls(step))
        tokens = [math.ceil(sum(side) / CHARACTERS_PER_TOKEN * (wanted or 0)) for side in zip(*calls, strict=True)]
        prices = given.get("price_in", 0.0), given.get("price_out", 0.0)
        money = sum(count * price for count, price in zip(tokens, prices, strict=True)) / 1e6
        return Asking(
            step=step.id,
            title=step.title,
            conditions=step.conditions,
            requests=wanted * len(calls) if wanted else None,
            tokens_in=tokens[0] if wanted else None,
            tokens_out=tokens[1] if wanted else None,
            money=money if wanted and any(prices) else None,
        )

    def scoring(self, step: Step) -> Scoring:
        given = step.parameters
        probes = given.get("probes", [])
        canaries = self._canaries.total()
        names = canaries * candidates(step, self._graph)
        texts = self._texts(step, probes) if self._held_out and self._train else None
        batch, wide = given.get("batch_size", 1), given.get("candidate_batch_size", 1)
        ranking = canaries * (1 + math.ceil(names / canaries / wide)) if names else 0
        samples = given.get("extraction_samples", 0)
        return Scoring(
            step=step.id,
            title=step.title,
            conditions=step.conditions,
            texts=texts,
            names=names,
            continuations=canaries * (1 + samples) if samples else 0,
            passes=None if texts is None else math.ceil(texts / batch) + ranking,
            benchmarks=tuple(given.get("harness_tasks", [])),
        )

    def _texts(self, step: Step, probes: Sequence[str]) -> int:
        given, canaries = step.parameters, self._canaries.total()
        records = min(given.get("held_out_limit") or self._held_out, self._held_out)
        unplanted = min(given.get("unplanted", 0), self._alternatives)
        each: dict[str, int] = {"verbatim": canaries, "semantic": canaries, "unplanted": canaries * unplanted}
        each |= {"held_out": records, "medication": records}
        attacks, most = given.get("attacks", []), given.get("membership_records", 0)
        attacked = canaries + min(most, self._train) + min(most, self._held_out) if attacks and most else 0
        if "reference" in attacks and step.inputs.get("adapters"):
            attacked *= 2  # once more without the adapter
        return sum(each.get(probe, 0) for probe in probes) + attacked

    def _people(self) -> int:
        return self._train + self._canaries.total() - self._canaries[0]

    def _instances(self, step: Step) -> int | None:
        """Records of the corpus that a step reads; None where only the data tell."""
        (ref,) = step.inputs["corpus"]
        maker = self._steps[ref.step]
        if maker.component == CANARIES:
            copies = sum(times * count for times, count in self._canaries.items())
            return self._train + copies if self._train else None
        before = self._instances(maker)
        copies = maker.parameters.get("copies", 1)
        return before * int(copies) if before else None

    def _calls(self, step: Step) -> Iterator[tuple[float, float]]:
        """Mean characters in and out of each call that one record takes."""
        texts = [record.text for record in self._records]
        if "rubric" in step.parameters:
            found = rubric.stage(step.parameters["rubric"])
            pairs = (Pair(id=record.id, source=record, text=record.text) for record in self._records)
            asked = [len(found.prompt(rubric.source_of(pair).text)) for pair in pairs]
            yield sum(asked) / len(asked), _ANSWER_CHARACTERS
            return
        for stage in prompts.stages(step.parameters["strategy"], texts):
            asked = [len(stage.prompt(text)) for text in texts]
            yield sum(asked) / len(asked), self.characters


def _part(records: int, given: Parameters) -> int:
    """How many records one of the parts that are rewritten side by side takes."""
    first, end = bounds(records, shard=given.get(SHARD, 0), shards=given.get(SHARDS, 1))
    return end - first


def _optimizer_steps(step: Step, instances: int, people: int) -> int:
    given = step.parameters
    if "lot" in given:
        units = people if given.get("unit") == "person" else instances
        return schedule(units=units, lot=given["lot"], epochs=given["epochs"]).steps
    effective = int(given.get("batch_size", 1)) * int(given.get("accumulation", 1))
    return int(given.get("epochs", 1)) * math.ceil(instances / effective)
