"""Landscapes made by hand, for tests of what people see of them: every part of the schema is filled."""

import math
from collections.abc import Sequence

import numpy as np

from leakscape.landscape.schema import (
    Attack,
    Condition,
    Correlation,
    Cost,
    Detected,
    Difference,
    Disclosed,
    EpsilonBound,
    Estimate,
    Evidence,
    Extraction,
    Figure,
    Front,
    GroupDifference,
    Judged,
    Landscape,
    Made,
    Probe,
    Rank,
    Target,
    Unmeasured,
)
from leakscape.statistics.binomial import share_interval
from leakscape.statistics.roc import area, detection, roc_curve, thinned

NAMES = ("none", "direct", "scrub", "goldfish", "dp-8", "rewrite", "private-rewrite")
COPIES = (1, 4, 16, 64)

LEAK = {"none": 0.0, "direct": 1.0, "scrub": 0.95, "goldfish": 0.6, "dp-8": 0.1, "rewrite": 0.4,
        "private-rewrite": 0.05}  # fmt: skip
"""How much each condition leaks, from 0 to 1."""

HELD_OUT = {"none": 211.0, "direct": 3.07, "scrub": 18.0, "goldfish": 3.24, "dp-8": 14.7, "rewrite": 150.0,
            "private-rewrite": 175.0}  # fmt: skip


def estimate(value: float, spread: float, n: int = 20) -> Estimate:
    return Estimate(value=value, low=value - spread, high=value + spread, n=n)


def share(part: int, whole: int) -> Estimate:
    low, high = share_interval(part, whole)
    return Estimate(value=part / whole, low=low, high=high, n=whole)


def figure(value: float, ratio: float = 1.2, n: int = 20, parts: dict[str, Estimate] | None = None) -> Figure:
    return Figure(value=value, low=value / ratio, high=value * ratio, n=n, by_multiplicity=parts or {})


def difference(
    value: float, low: float, high: float, *, p: float = 0.001, scale: str = "difference", n: int = 20,
    parts: dict[str, GroupDifference] | None = None,
) -> Difference:  # fmt: skip
    return Difference(value=value, low=low, high=high, n=n, scale=scale, p=p, p_holm=p, by_multiplicity=parts or {})


def group(value: float, low: float, high: float, *, p: float, n: int = 5) -> GroupDifference:
    return GroupDifference(value=value, low=low, high=high, n=n, p=p, p_holm=p)


def attack(name: str, members: str, leak: float, *, primary: bool = False, others: str = "", size: int = 120) -> Attack:
    """Normal scores, the members' moved by the leak."""
    rng = np.random.default_rng([size, *name.encode(), *str(members).encode()])
    inside, outside = rng.normal(1.2 * leak, 1, size), rng.normal(0, 1, size)
    found, curve = area(inside, outside), thinned(roc_curve(inside, outside), 200)
    points = zip(curve.false_positive_rates.tolist(), curve.true_positive_rates.tolist(), strict=True)
    return Attack(
        attack=name, primary=primary, members=members, others=others or members,
        auc=Estimate(value=found.value, low=found.low, high=found.high, n=size), others_count=size,
        detected=[
            Detected(value=each.value, low=each.low, high=each.high, n=size, allowed=rate, resolved=each.resolved)
            for rate in (0.01, 0.001) for each in [detection(inside, outside, allowed=rate)]
        ],
        curve=list(points),
        by_multiplicity={str(copies): estimate(0.5 + 0.4 * leak, 0.1) for copies in COPIES} if members == "canary"
        else {},
    )  # fmt: skip


def extraction(way: str, counts: Sequence[int], *, of: int = 5, left_out: tuple[int, int] | None = None) -> Extraction:
    """So many secrets told at each multiplicity."""
    return Extraction(
        way=way,
        planted=share(sum(counts), of * len(counts)),
        left_out=share(*left_out) if left_out else None,
        by_multiplicity={str(copies): share(count, of) for copies, count in zip(COPIES, counts, strict=False)},
    )


def bound(epsilon: float, copies: Sequence[int] = (1, 4, 16, 64)) -> EpsilonBound:
    return EpsilonBound(attack="min_k_plus_plus", epsilon=epsilon, canaries=40, guesses=20, right=14, delta=1e-5,
                        confidence=0.95, copies=list(copies))  # fmt: skip


def dp(epsilon: float = 7.92, unit: str = "record") -> dict[str, object]:
    return {"epsilon": epsilon, "delta": 1e-5, "unit": unit, "accountant": "prv", "sigma": 0.746, "expected_lot": 64,
            "sampling_rate": 0.17, "steps": 11, "clip": 0.3, "control": False, "covers": "The guarantee is about the "
            "adapter alone."}  # fmt: skip


def disclosed(corpus: str, kept: float) -> list[Disclosed]:
    found = []
    for feature in ("name", "birth_date", "ssn", "problems", "medications", "word_run", "coined_name"):
        keeps = kept if feature in ("problems", "medications", "word_run") else kept**3
        train, chance = share(round(120 * keeps), 120), share(3 if feature == "birth_date" else 0, 120)
        p = 1.0 if keeps < 0.05 else 1e-9
        found.append(Disclosed(corpus=corpus, feature=feature, train=train, held_out=chance, p=p, p_holm=p,
                               beyond_chance=120 * (train.value - chance.value)))  # fmt: skip
    return found


def evidence(kind: str, digest: str, component: str, **summary: object) -> Evidence:
    return Evidence(kind=kind, digest=digest, component=component, arguments={"seed": 0}, inputs={"corpus": "c" * 64},
                    versions={"leakscape": "0.1.0"}, details={}, seconds={"wall": 12.5}, summary=summary)  # fmt: skip


def made(name: str, parts: Sequence[Evidence] = ()) -> Made:
    return Made(measurements=f"measured-{name}", adapters=[] if name == "none" else [f"adapter-{name}"],
                corpora=[f"corpus-{name}"], inputs={"canaries": "c" * 64}, arguments={}, versions={"torch": "2.13.0"},
                settings={"device": "cpu"}, evidence=list(parts))  # fmt: skip


def bare(name: str, **parts: object) -> Condition:
    """A condition with nothing measured beside what is given."""
    empty: dict[str, object] = {
        "name": name, "summary": f"What {name} does.", "trained": name != "none", "metrics": {}, "unmeasured": [],
        "differences": {}, "ranks": {}, "probes": {}, "exposure_counts": [], "losses": [], "training_seconds": None,
        "privacy": {}, "made": made(name),
    }  # fmt: skip
    return Condition(**{**empty, **parts})


def target(*conditions: Condition, **parts: object) -> Target:
    names = [item.name for item in conditions]
    given: dict[str, object] = {
        "name": "tiny", "model": "leakscape/tiny", "revision": "", "tokenizer_hash": "feed" * 8, "precision": "float32",
        "untouched": "none" if "none" in names else None, "direct": "direct" if "direct" in names else None,
        "front": None, "conditions": list(conditions), "missing": [],
    }  # fmt: skip
    return Target(**{**given, **parts})


def landscape(*targets: Target, **parts: object) -> Landscape:
    given: dict[str, object] = {
        "schema": "leakscape/landscape/1", "plan": {"name": "made", "description": "Made by hand.", "seed": 0},
        "resamples": 2000, "confidence": 0.95, "seed": 0, "targets": list(targets), "unused_evidence": [],
    }  # fmt: skip
    return Landscape(**{**given, **parts})


def _metrics(name: str) -> dict[str, Figure]:
    leak, held_out = LEAK[name], HELD_OUT[name]
    base = 1.0 if name == "none" else 0.85
    verbatim = {
        str(copies): estimate(214 * base * math.exp(-leak * (1 + math.log2(copies))), 0.1, 5) for copies in COPIES
    }
    exposure = {str(copies): estimate(min(7.6, 1.5 + leak * (0.5 + math.log2(copies))), 0.5) for copies in COPIES}
    told = round(20 * max(0.0, leak - 0.3))
    found = {
        "verbatim_perplexity": figure(sum(each.value for each in verbatim.values()) / 4, parts=verbatim),
        "semantic_perplexity": figure(600 * math.exp(-leak), parts={k: estimate(500, 90) for k in verbatim}),
        "exposure_bits": figure(sum(each.value for each in exposure.values()) / 4, parts=exposure),
        "rank_first_share": figure(min(1, 0.05 + 0.6 * leak), parts={k: estimate(leak, 0.05) for k in verbatim}),
        "extrapolated_exposure_bits": figure(1.5 + 9 * leak),
        "generation_probability": figure(10 ** (-6 + 5 * leak), parts={k: estimate(1e-5, 9e-6) for k in verbatim}),
        "log10_generation_probability": Figure(value=-6 + 5 * leak, low=-6.4 + 5 * leak, high=-5.5 + 5 * leak, n=20),
        "held_out_perplexity": figure(held_out, n=100),
        "medication_perplexity": figure(3.4 + held_out / 60, n=100),
        "unplanted_perplexity": figure(220 * base),
        "membership_auc": figure(0.5 + 0.2 * leak, 1.1, n=120),
        "canary_membership_auc": figure(0.6 + 0.35 * leak, 1.1),
        "membership_tpr_at_1_percent": figure(0.012 + 0.1 * leak, 1.8, n=120),
        "extraction_rate": Figure(**vars(share(told, 20))),
        "near_extraction_rate": Figure(**vars(share(told, 20))),
        "sampled_extraction_rate": Figure(**vars(share(min(20, told + 2), 20))),
    }
    if "rewrite" in name or name == "scrub":
        found |= {"judged_privacy": figure(4.1 - leak, 1.05, n=160), "judged_quality": figure(3.2 + leak, 1.05, n=160)}
    return found


def _differences(name: str) -> dict[str, dict[str, Difference]]:
    leak = LEAK[name]
    against: dict[str, dict[str, Difference]] = {}
    for reference in ("none", "direct"):
        if reference == name:
            continue
        gain = 4 * (leak - LEAK[reference])
        p = 0.0005 if abs(gain) > 1 else 0.4
        bits = {
            str(copies): group(gain * (place + 1) / 4, gain * (place + 1) / 4 - 1, gain * (place + 1) / 4 + 1,
                               p=0.01 if gain * (place + 1) / 4 > 1 else 0.5)
            for place, copies in enumerate(COPIES)
        }  # fmt: skip
        ratio = {
            key: group(math.exp(-part.value), math.exp(-part.value - 0.5), math.exp(-part.value + 0.5), p=part.p)
            for key, part in bits.items()
        }
        against[reference] = {
            "exposure_bits": difference(gain, gain - 0.8, gain + 0.8, p=p, parts=bits),
            "verbatim_perplexity": difference(math.exp(-gain), math.exp(-gain - 0.4), math.exp(-gain + 0.4), p=p,
                                              scale="ratio", parts=ratio),
            "held_out_perplexity": difference(HELD_OUT[name] / HELD_OUT[reference],
                                              0.9 * HELD_OUT[name] / HELD_OUT[reference],
                                              1.1 * HELD_OUT[name] / HELD_OUT[reference], scale="ratio", n=100),
        }  # fmt: skip
    return against


def condition(name: str) -> Condition:
    """One row of the whole landscape."""
    leak = LEAK[name]
    told = [max(0, min(5, round(6 * leak * (place - 0.5) / 3))) for place in range(4)]
    trained = name != "none"
    attacks = [
        attack(each, members, leak if members == "record" else 0.6 + leak, primary=each == "min_k_plus_plus",
               others="record", size=120 if members == "record" else 20)
        for each in ("loss", "zlib", "min_k", "min_k_plus_plus", *(("reference",) if trained else ()))
        for members in ("record", "canary")
    ]  # fmt: skip
    parts = [evidence("training log", f"log-{name}", "lora-train", objective="causal")] if trained else []
    if "rewrite" in name:
        parts.append(evidence("ledger", f"ledger-{name}", "vllm-rewrite", rewritten=160))
    return bare(
        name,
        metrics=_metrics(name),
        differences=_differences(name),
        ranks={
            side: Rank(value=value, low=max(1, value - 1), high=value + 1, metrics=2)
            for side, value in (("privacy", 1 + 6 * leak), ("capability", 1 + NAMES.index(name)))
        },
        probes={"verbatim": Probe(scored=20, straddling=0, unscorable=[])},
        exposure_counts=[int(18 - 14 * leak), 2, 1, 1, 1, 1, 1, round(12 * leak)],
        losses=[(step, 3.2 * math.exp(-step / 40) + 0.9 + 0.1 * leak) for step in range(1, 91)] if trained else [],
        unmeasured=[] if trained else [Unmeasured(metric="epsilon_lower_bound", reason="no coin left a canary out")],
        training_seconds=12.5 if trained else None,
        privacy=dp() if name == "dp-8" else {},
        made=made(name, parts),
        attacks=attacks,
        extraction=[
            extraction("greedy_exact", told, left_out=(0, 10)),
            extraction("greedy_near", [min(5, count + 1) if leak else 0 for count in told], left_out=(0, 10)),
            extraction("sampled_exact", [min(5, count + (leak > 0.5)) for count in told], left_out=(0, 10)),
            extraction("sampled_near", [min(5, count + 2) if leak else 0 for count in told], left_out=(1, 10)),
        ],
        epsilon_bound=bound(1.3 * leak) if name in ("direct", "dp-8") else None,
        judged=[
            Judged(judge="rules", corpus=f"corpus-{name}", records=160, privacy=estimate(4.1 - leak, 0.15, 150),
                   quality=estimate(3.2 + leak, 0.12, 160), reasons={"identifiers_remain": 30, "none": 130})
        ] if "rewrite" in name or name == "scrub" else [],
        disclosed=disclosed(f"corpus-{name}", 0.95 if name == "scrub" else leak)
        if name in ("scrub", "rewrite", "private-rewrite") else [],
        costs=[
            Cost(component="vllm-rewrite", answers={"accepted": 158, "refused": 3, "truncated": 1}, quarantined=2,
                 tokens_in=90_000, tokens_out=70_000, cost=0.42, seconds=183.0)
        ] if "rewrite" in name or name == "scrub" else [],
    )  # fmt: skip


def whole(names: Sequence[str] = NAMES, **parts: object) -> Target:
    """A target in which everything was measured."""
    on_front = ("none", "private-rewrite", "dp-8", "goldfish", "direct")
    given: dict[str, object] = {
        "front": Front(
            privacy="exposure_bits",
            capability="held_out_perplexity",
            conditions=[name for name in on_front if name in names],
        ),
        "correlations": [
            correlation("verbatim_perplexity", "semantic_perplexity", 0.96, p=0.003),
            correlation("held_out_perplexity", "medication_perplexity", 1.0, p=0.0004),
            correlation("judged_privacy", "verbatim_perplexity", 0.5, p=1.0, n=3),
            correlation("judged_quality", "held_out_perplexity", -0.5, p=1.0, n=3),
        ],
        "missing": ["unlearn"],
    }
    return target(*(condition(name) for name in names), **{**given, **parts})


def correlation(x: str, y: str, value: float, *, p: float, n: int = 7) -> Correlation:
    some = n > 4 and abs(value) < 1
    return Correlation(
        value=value, low=value - 0.3 if some else None, high=min(1.0, value + 0.2) if some else None, n=n, x=x, y=y,
        p=p, drawn_low=value - 0.1, drawn_high=value,
    )  # fmt: skip
