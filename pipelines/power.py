"""What a plan can detect, told from its graph alone, before anything is trained."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from leakscape.canaries.assignment import check_multiplicities, multiplicities_of, toss
from leakscape.errors import PlanError
from leakscape.statistics.power import (
    canaries_needed,
    detectable_difference,
    largest_epsilon,
    most_if_none,
    null_exposure,
    resolves,
    smallest_p,
)
from leakscape.statistics.roc import FALSE_ALARMS
from pipelines.compose import Graph, Step
from pipelines.parameters import CANARIES, EVALUATE, LANDSCAPE, POPULATION
from pipelines.schema import Parameters

WANTED_BITS = (0.5, 1.0)
"""Differences for which the number of canaries is stated unless others are asked for."""

POWER = 0.8
DELTA = 1e-5
"""Where no condition of the plan states one."""

_LITTLE = 1.0  # bits: a plan that can't find so much is called a weak one


@dataclass(frozen=True, kw_only=True)
class GroupPower:
    """What canaries of one multiplicity can show, or all that are planted.

    Args:
        multiplicity: of the group; None for all planted canaries together.
        canaries: how many.
        paired_bits: smallest difference in exposure that is found; None where no result can reach the level, or where
            exposure is not measured.
        unpaired_bits: the same if a canary's exposure under one condition says nothing of it under the other.
        at_most_if_none: the share of extracted canaries, of secrets ranked first and of members found that a count of
            none leaves possible.
        smallest_p: that the sign-flip test can give, before correction.
    """

    multiplicity: int | None
    canaries: int
    paired_bits: float | None
    unpaired_bits: float | None
    at_most_if_none: float
    smallest_p: float


@dataclass(frozen=True, kw_only=True)
class Needed:
    """How many canaries find a difference: of one group, or of all together."""

    bits: float
    paired: int
    unpaired: int


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Whether a false-positive rate can be shown with so many records that were not trained on."""

    rate: float
    resolved: bool


@dataclass(frozen=True, kw_only=True)
class Power:
    """What a plan can show of some of its targets.

    Args:
        targets: their names.
        comparisons: conditions compared with the untouched one; p-values are corrected over them.
        level: of a test over all canaries after Holm's first step, (1 - confidence) / comparisons. Tests within a
            multiplicity are corrected over all pairs of condition and multiplicity.
        power: chance to find a difference of the sizes given.
        candidates: names that a secret is ranked among, itself included; 0 if exposure is not measured.
        null_sd: deviation of exposure, in bits, where nothing leaks; 0 if it is not measured.
        groups: all planted canaries first, then by multiplicity.
        left_out: canaries that a coin leaves out.
        coins: whether coins were tossed.
        epsilon: the lower bound on epsilon if every guess is right; None without coins.
        delta: of that bound.
        needed: canaries for wanted differences.
        records: of each side that membership attacks try, at most; None if the data decide.
        rates: the false-positive rates of the report.
        warnings: in sentences.
    """

    targets: tuple[str, ...]
    comparisons: int
    level: float
    power: float
    candidates: int
    null_sd: float
    groups: tuple[GroupPower, ...]
    left_out: int
    coins: bool
    epsilon: float | None
    delta: float
    needed: tuple[Needed, ...]
    records: int | None
    rates: tuple[Rate, ...]
    warnings: tuple[str, ...]


def dealt(graph: Graph) -> Counter[int]:
    """How many canaries get each multiplicity, 0 for those that a coin leaves out: the plan's seed decides.

    Raises:
        ContractError: the multiplicities are no distinct whole numbers from 1, or more than there are canaries.
        PlanError: there are more canaries than records, of which each one needs its own.
    """
    given = graph.step(CANARIES).parameters
    records: int = graph.step(POPULATION).parameters.get("train_count", 0)
    if 0 < records < given["count"]:
        raise PlanError(
            f"{given['count']} canaries need as many training records to be made from, but population.train_count is "
            f"{records}."
        )
    count, seed = given["count"], given.get("seed", 0)
    multiplicities = check_multiplicities(given["multiplicities"], count)
    each = multiplicities_of(count, multiplicities, seed=seed, rotation=given.get("rotation", 0))
    return Counter(toss(each, seed=seed) if _coins(given) else each)


def candidates(step: Step, graph: Graph) -> int:
    """Names that a measurement ranks a secret among, itself included; 0 where exposure is not measured."""
    wanted: int = step.parameters.get("alternatives", -1)
    there: int = graph.step(CANARIES).parameters.get("alternatives", 0)
    if not (wanted and there) or "exposure" not in step.parameters.get("probes", ["exposure"]):
        return 0
    return 1 + (there if wanted < 0 else min(wanted, there))


def power_of(graph: Graph, *, bits: Sequence[float] = WANTED_BITS) -> list[Power]:
    """What a plan can show, once for all targets that it can show the same of.

    Args:
        graph: as `pipelines.audit.graph` gives it.
        bits: differences in exposure for which the number of canaries is wanted.

    Raises:
        ContractError, PlanError: as `dealt`.
    """
    groups = dealt(graph)
    found: list[Power] = []
    for target in dict.fromkeys(name for step in _evaluations(graph) for name in step.targets):
        one = _of_target(graph, target, groups, bits)
        same = [index for index, known in enumerate(found) if replace(known, targets=one.targets) == one]
        if same:
            found[same[0]] = replace(found[same[0]], targets=(*found[same[0]].targets, target))
        else:
            found.append(one)
    return found


def _of_target(graph: Graph, target: str, groups: Counter[int], bits: Sequence[float]) -> Power:
    steps = [step for step in _evaluations(graph) if target in step.targets]
    conditions = {name for step in steps for name in step.conditions}
    comparisons = max(1, len(conditions) - 1)
    confidence: float = graph.step(LANDSCAPE).parameters.get("confidence", 0.95)
    level = (1 - confidence) / comparisons
    ranked = min(candidates(step, graph) for step in steps)
    sd = null_exposure(ranked)[1] if ranked else 0.0
    planted = {times: count for times, count in sorted(groups.items()) if times}
    sizes = [(None, sum(planted.values()), level), *((times, n, level / len(planted)) for times, n in planted.items())]
    coins, delta = _coins(graph.step(CANARIES).parameters), _delta(graph, target)
    records = _attacked(steps, graph)
    power = Power(
        targets=(target,),
        comparisons=comparisons,
        level=level,
        power=POWER,
        candidates=ranked,
        null_sd=sd,
        groups=tuple(_group(times, n, sd, corrected, confidence) for times, n, corrected in sizes if n),
        left_out=groups[0],
        coins=coins,
        epsilon=_epsilon(groups.total(), delta, confidence) if coins else None,
        delta=delta,
        needed=tuple(_needed(wanted, sd, level) for wanted in bits if sd),
        records=records,
        rates=tuple(Rate(rate=rate, resolved=resolves(records, rate)) for rate in FALSE_ALARMS if records is not None),
        warnings=(),
    )
    return replace(power, warnings=(*_warnings(power), *_coin_warnings(power, graph)))


def _group(times: int | None, n: int, sd: float, level: float, confidence: float) -> GroupPower:
    paired = detectable_difference(n, sd=sd, power=POWER, alpha=level, paired=True)
    return GroupPower(
        multiplicity=times,
        canaries=n,
        paired_bits=paired if sd and math.isfinite(paired) else None,
        unpaired_bits=detectable_difference(n, sd=sd, power=POWER, alpha=level) if sd else None,
        at_most_if_none=most_if_none(n, confidence=confidence),
        smallest_p=smallest_p(n),
    )


def _needed(bits: float, sd: float, level: float) -> Needed:
    paired, unpaired = (canaries_needed(bits, sd=sd, power=POWER, alpha=level, paired=pairs) for pairs in (True, False))
    return Needed(bits=bits, paired=paired, unpaired=unpaired)


def _warnings(power: Power) -> Iterator[str]:
    if not power.groups:
        yield "The coins leave every canary out: nothing is planted. Choose another seed or more canaries."
        return
    whole, *parts = power.groups
    if not power.candidates:
        yield "Exposure is not measured, so no leak is told from what fine-tuning does to every name."
    elif whole.paired_bits is None:
        yield f"No result of {whole.canaries} canaries can be significant after correction."
    elif whole.paired_bits > _LITTLE:
        yield (
            f"This plan can find little: with {whole.canaries} planted canaries a mean difference below "
            f"{whole.paired_bits:.2f} bits of exposure is likely to be missed. Finding none will not mean that there "
            "is none."
        )
    if weak := [f"x{part.multiplicity}" for part in parts if part.paired_bits is None and power.candidates]:
        yield (
            f"{', '.join(weak)}: too few canaries for any result of the group alone to be significant after correction."
        )
    if power.records == 0:
        yield "No record is attacked: membership is told for canaries only."


def _coin_warnings(power: Power, graph: Graph) -> Iterator[str]:
    """Where coins can't be held against what the trainers of a target claim."""
    claims = [
        step.parameters
        for step in graph.steps
        if "epsilon" in step.parameters and not step.parameters.get("control") and power.targets[0] in step.targets
    ]
    if power.epsilon is None or not claims:
        return
    largest = max(claim["epsilon"] for claim in claims)
    if largest >= power.epsilon:
        yield (
            f"The coins can show at most {power.epsilon:.2f}, so they can't refute a claim of epsilon {largest:g}; "
            "they can show how much of it is used. More canaries show more."
        )
    copies = [group.multiplicity for group in power.groups if group.multiplicity is not None]
    if copies != [1] and any(claim.get("unit", "record") == "record" for claim in claims):
        yield (
            "What the coins show is of a canary with all its copies, and the claimed epsilon of a single record: they "
            "compare where `multiplicities` is [1]."
        )


def _evaluations(graph: Graph) -> list[Step]:
    return [step for step in graph.steps if step.component == EVALUATE]


def _coins(canaries: Parameters) -> bool:
    return bool(canaries.get("inclusion", "all") == "coin")


def _epsilon(canaries: int, delta: float, confidence: float) -> float | None:
    return largest_epsilon(canaries, delta=delta, confidence=confidence) if canaries > 1 else None


def _attacked(steps: Sequence[Step], graph: Graph) -> int | None:
    """Records of each side that are attacked; None where only the data tell how many there are."""
    wanted: int = min(step.parameters.get("membership_records", 0) for step in steps)
    if not wanted or not all(step.parameters.get("attacks", True) for step in steps):
        return 0
    there: int = graph.step(POPULATION).parameters.get("held_out_count", 0)
    return min(wanted, there) if there else None


def _delta(graph: Graph, target: str) -> float:
    """The smallest delta that a trainer of the target claims."""
    claimed = [
        step.parameters["delta"] for step in graph.steps if "delta" in step.parameters and target in step.targets
    ]
    return min(claimed, default=DELTA)
