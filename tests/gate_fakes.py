"""A hand-made landscape and verdicts for tests of the gate."""

# ruff: noqa: ANN401 - the changes go to dataclasses.replace

from dataclasses import replace
from typing import Any

from leakscape import schemas
from leakscape.landscape.schema import Condition, Difference, Estimate, Figure, Landscape, Made, Target, Unmeasured
from leakscape.landscape.verdict import Held, Verdict

MADE = Made(
    measurements="aa" * 32, adapters=["bb" * 32], corpora=[], inputs={}, arguments={}, versions={}, settings={},
    evidence=[],
)  # fmt: skip


def figure(value: float, low: float | None, high: float | None, n: int = 20) -> Figure:
    return Figure(value=value, low=low, high=high, n=n)


def condition(name: str, metrics: dict[str, Figure], **changes: Any) -> Condition:
    made = Condition(
        name=name, summary="", trained=name != "none", metrics=metrics, unmeasured=[], differences={}, ranks={},
        probes={}, exposure_counts=[], losses=[], training_seconds=None, privacy={}, made=MADE,
    )  # fmt: skip
    return replace(made, **changes)


def landscape(*conditions: Condition, targets: tuple[str, ...] = ("tiny",)) -> Landscape:
    return Landscape(
        schema=schemas.LANDSCAPE, plan={"name": "small"}, resamples=200, confidence=0.95, seed=0, unused_evidence=[],
        targets=[
            Target(
                name=name, model=name, revision="", tokenizer_hash="feed", precision="float32", untouched="none",
                direct="direct", front=None, conditions=list(conditions), missing=[],
            )
            for name in targets
        ],
    )  # fmt: skip


SMALL = landscape(
    condition("none", {"exposure_bits": figure(1.5, 0.9, 2.2), "held_out_perplexity": figure(20.0, 18.0, 22.0, 100)}),
    condition(
        "direct",
        {
            "exposure_bits": figure(6.0, 5.1, 6.8),
            "extraction_rate": figure(0.5, 0.27, 0.73),
            "held_out_perplexity": figure(3.0, 2.9, 3.2, 100),
        },
        differences={
            "none": {
                "exposure_bits": Difference(
                    value=4.5, low=3.6, high=5.4, n=20, scale="difference", p=0.0001, p_holm=0.0001
                )
            }
        },
    ),
    condition(
        "dp-8",
        {"exposure_bits": figure(1.6, 1.0, 2.4), "held_out_perplexity": figure(5.0, 4.8, 5.3, 100)},
        unmeasured=[Unmeasured(metric="extraction_rate", reason="extraction was left out")],
    ),
)


def held(outcome: str, **changes: Any) -> Held:
    made = Held(
        rule="exposure_bits of direct, high end of its interval, at most 3", metric="exposure_bits",
        condition="direct", target="tiny", against="", bound="high", limit=3.0, limit_kind="at_most",
        estimate=Estimate(value=6.0, low=5.1, high=6.8, n=20), outcome="passed", reason="6.8 is not at most 3.",
    )  # fmt: skip
    return replace(made, outcome=outcome, **changes)


def verdict(*rules: Held, **changes: Any) -> Verdict:
    passed = all(rule.outcome in ("passed", "skipped") for rule in rules)
    made = Verdict(schema=schemas.VERDICT, plan="small", landscape="ab" * 32, passed=passed, rules=list(rules))
    return replace(made, **changes)
