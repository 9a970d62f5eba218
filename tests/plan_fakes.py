"""Small contracts with the names of the real components, a plan and its graph, for tests of plans and graphs."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from components.enforce.contract import Enforce
from components.finish.contract import Finish
from components.preflight.contract import Preflight
from components.publish.contract import Publish
from leakscape.contract import IMAGES, In, Out, Param, component, spec
from pipelines import source
from pipelines.compose import Graph, compose
from pipelines.plan import check

PUSHED = {name: f"registry.example/leakscape/{name}@sha256:{number:064x}" for number, name in enumerate(IMAGES, 1)}
"""Images as they are named once a registry has them."""


@component(name="synthea-gen", image="base")
class Population:
    """Make a population."""

    source: Annotated[str, Param("Where from.", choices=("builtin", "synthea-csv"))] = "builtin"
    path: Annotated[str, Param("Folder of the source.")] = ""
    content_hash: Annotated[str, Param("Digest of what lies at path.")] = ""
    train_count: Annotated[int, Param("Training records.", low=1)] = 5000
    held_out_count: Annotated[int, Param("Held-out records.", low=1)] = 1000
    seed: Annotated[int, Param("Seed.", low=0)] = 0
    train: Annotated[Path, Out("population", "Training people.")]
    held_out: Annotated[Path, Out("population", "Held-out people.")]
    exemplars: Annotated[Path, Out("population", "Exemplars.")]


@component(name="canary-insert", image="base")
class Canaries:
    """Insert canaries."""

    train: Annotated[Path, In("population", "Training people.")]
    held_out: Annotated[Path, In("population", "Held-out people.")]
    count: Annotated[int, Param("Canaries.", low=1)] = 100
    multiplicities: Annotated[list[int], Param("Copies.", low=0)] = field(default_factory=lambda: [1, 4, 16, 32, 64])
    seed: Annotated[int, Param("Seed.", low=0)] = 0
    corpus: Annotated[Path, Out("corpus", "Corpus.")]
    canaries: Annotated[Path, Out("canaries", "Canaries.")]


@component(name="scrub", image="evaluate")
class Scrub:
    """Mask identifiers."""

    corpus: Annotated[Path, In("corpus", "Corpus.")]
    detector: Annotated[str, Param("Detector.", choices=("rules", "presidio"))] = "rules"
    model: Annotated[str, Param("The detector's model.")] = ""
    seed: Annotated[int, Param("Seed.", low=0)] = 0
    scrubbed: Annotated[Path, Out("corpus", "Scrubbed corpus.")]
    masks: Annotated[Path, Out("masks", "What was masked.")]


@component(name="lora-train", image="train")
class LoraTrain:
    """Fine-tune."""

    corpus: Annotated[Path, In("corpus", "Corpus.")]
    canaries: Annotated[Path, In("canaries", "Canaries.")]
    model: Annotated[str, Param("Model.", required=True)]
    revision: Annotated[str, Param("Revision.")] = ""
    objective: Annotated[str, Param("Loss.", choices=("causal", "goldfish"))] = "causal"
    learning_rate: Annotated[float, Param("Rate.", above=0)] = 2e-4
    batch_size: Annotated[int, Param("Batch.", low=1)] = 4
    checkpointing: Annotated[bool, Param("Gradient checkpointing.")] = False
    epochs: Annotated[int, Param("Passes.", low=1)] = 2
    seed: Annotated[int, Param("Seed.", low=0)] = 0
    adapter: Annotated[Path, Out("adapter", "Adapter.")]
    log: Annotated[Path, Out("training-log", "Log.")]


@component(name="dp-train", image="train")
class DpTrain:
    """Fine-tune with DP-SGD."""

    corpus: Annotated[Path, In("corpus", "Corpus.")]
    model: Annotated[str, Param("Model.", required=True)]
    epsilon: Annotated[float, Param("Privacy budget.", above=0)]
    learning_rate: Annotated[float, Param("Rate.", above=0)] = 2e-4
    seed: Annotated[int, Param("Seed.", low=0)] = 0
    adapter: Annotated[Path, Out("adapter", "Adapter.")]
    log: Annotated[Path, Out("training-log", "Log.")]


@component(name="evaluate", image="evaluate")
class Evaluate:
    """Measure."""

    canaries: Annotated[Path, In("canaries", "Canaries.")]
    held_out: Annotated[Path, In("population", "Held-out people.")]
    original: Annotated[Path, In("corpus", "Corpus before any defence.")]
    adapters: Annotated[tuple[Path, ...], In("adapter", "Adapters.", many=True)]
    target: Annotated[str, Param("Target.", required=True)]
    condition: Annotated[str, Param("Condition.", required=True)]
    model: Annotated[str, Param("Model.", required=True)]
    revision: Annotated[str, Param("Revision.")] = ""
    batch_size: Annotated[int, Param("Batch.", low=1)] = 16
    measurements: Annotated[Path, Out("measurements", "Scores.")]


@component(name="landscape", image="base")
class Landscape:
    """Compare."""

    measurements: Annotated[tuple[Path, ...], In("measurements", "Scores.", many=True)]
    evidence: Annotated[tuple[Path, ...], In("evidence", "Logs, masks, ledgers.", many=True)]
    plan: Annotated[dict[str, Any], Param("Plan.")] = field(default_factory=dict)
    resamples: Annotated[int, Param("Bootstrap resamples.", low=100)] = 2000
    confidence: Annotated[float, Param("Level.", above=0, high=0.999)] = 0.95
    seed: Annotated[int, Param("Seed.", low=0)] = 0
    gate: Annotated[list[Any], Param("Rules.")] = field(default_factory=list)
    history: Annotated[str, Param("History.")] = ""
    landscape: Annotated[Path, Out("landscape", "Landscape.")]
    report: Annotated[Path, Out("html", "Report.")]
    verdict: Annotated[Path, Out("verdict", "Verdict.")]


CONTRACTS: dict[str, type[Any]] = {
    spec(contract).name: contract
    for contract in (
        *(Canaries, DpTrain, Enforce, Evaluate, Finish, Landscape, LoraTrain, Population, Preflight, Publish, Scrub),
    )
}

PLAN = """\
schema: leakscape/plan/1
name: small
seed: 7
population:
  train_count: 300
canaries:
  count: 25
targets:
  - model: leakscape/tiny
    train:
      learning_rate: 1e-2
      batch_size: 16
conditions:
  - name: none
    summary: Untouched.
  - name: direct
    summary: As they are.
    train:
      component: lora-train
  - name: scrub
    corpus:
      - component: scrub
        detector: rules
    train:
      component: lora-train
  - name: dp
    train:
      component: dp-train
      epsilon: 8
      learning_rate: 5e-3
report:
  resamples: 500
"""


def graph(text: str = PLAN, *overrides: str, **settings: str) -> Graph:
    """The graph of a plan with these contracts, after overrides like those of `--set`."""
    plan = check(source.with_overrides(source.parse(text, name="p.yaml"), overrides), contracts=CONTRACTS)
    return compose(plan, CONTRACTS, **settings)
