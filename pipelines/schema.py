"""What a plan may say: the typed form of the YAML, without the parameters that the components define themselves."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.placement import Placement
from pipelines.strict import Strict

SCHEMA = "leakscape/plan/1"
MOST_SEED = 2**32 - 1  # numpy's legacy seeding, which transformers calls, takes no more

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
TargetName = Annotated[str, Field(pattern=r"^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,59})?$")]
Parameters = dict[str, Any]


class Use(BaseModel):
    """A component and the parameters given to it; its contract says which there are."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    component: str

    @property
    def settings(self) -> Parameters:
        """The parameters given."""
        return dict(self.model_extra or {})


class Target(Strict):
    """A base model that every condition is tried on.

    `train` and `evaluate` are defaults for this model's training and evaluating steps.
    """

    model: Annotated[str, Field(min_length=1)]
    revision: str = ""
    name: TargetName = ""
    train: Parameters = Field(default_factory=dict)
    evaluate: Parameters = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name that tables and pictures show: `name`, or the last part of the model's id or path."""
        return self.name or self.model.rstrip("/").rsplit("/", maxsplit=1)[-1]


class Condition(Strict):
    """A row of the comparison: a chain of corpus steps and a trainer, or neither for the untouched model."""

    name: Slug
    summary: str = ""
    corpus: list[Use] = Field(default_factory=list)
    train: Use | None = None
    evaluate: Parameters = Field(default_factory=dict)
    targets: Annotated[list[str], Field(min_length=1)] | None = None

    @property
    def untouched(self) -> bool:
        """Whether the model is measured as it is."""
        return self.train is None and not self.corpus

    def applies_to(self, target: Target) -> bool:
        """Whether the condition is run on `target`."""
        return self.targets is None or target.label in self.targets


class Rule(Strict):
    """A rule of the gate: one bound of a metric's interval must keep to a limit.

    `against` names what the metric's change is held against: `last` for the last audit, or the untouched or the direct
    condition; empty for the metric itself.
    """

    metric: Annotated[str, Field(min_length=1)]
    condition: str
    target: str = ""
    against: str = ""
    bound: Literal["low", "high"]
    at_most: float | None = None
    at_least: float | None = None


class Plan(Strict):
    """A comparison of defences: population, canaries, targets, conditions, report and gate."""

    schema_: Literal["leakscape/plan/1"] = Field(alias="schema")
    name: Slug
    description: str = ""
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] = 0
    population: Parameters = Field(default_factory=dict)
    canaries: Parameters = Field(default_factory=dict)
    targets: Annotated[list[Target], Field(min_length=1)]
    conditions: Annotated[list[Condition], Field(min_length=1)]
    report: Parameters = Field(default_factory=dict)
    publish: Parameters = Field(default_factory=dict)
    gate: list[Rule] = Field(default_factory=list)
    placement: Placement = Field(default_factory=Placement)
