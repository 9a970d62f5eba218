"""The report's first paragraphs, written from the figures alone."""

from dataclasses import dataclass, field

from leakscape.landscape.catalogue import CATALOGUE
from leakscape.landscape.charts.budget import upper
from leakscape.landscape.report import claims
from leakscape.landscape.report.claims import NAMES, Leak
from leakscape.landscape.schema import Condition, Difference, Estimate, Target
from leakscape.landscape.words import SURE, counted, listed, number, p_value, percent_span, times, with_span

NOTHING = "Nothing that compares was measured: an untouched model and a trained one are needed."


@dataclass(frozen=True, slots=True)
class Opening:
    """What was found: the first paragraph, what it costs, each condition in a sentence, and what it rests on."""

    first: str
    capability: str = ""
    conditions: list[tuple[str, str]] = field(default_factory=list)
    limits: str = ""


def opening(target: Target, confidence: float) -> Opening:
    """Say what was found and how sure it is.

    Args:
        target: of the landscape.
        confidence: of the intervals.
    """
    sentences = [*_refuted(target), _direct(target), _told(target, confidence), _found_out(target), _others(target)]
    return Opening(
        first=" ".join(sentence for sentence in sentences if sentence) or NOTHING,
        capability=_capability(target),
        conditions=[
            (item.name, sentence)
            for item in target.conditions
            if item.trained and item.name != target.direct and (sentence := _condition(target, item))
        ],
        limits=_limits(target),
    )


def _refuted(target: Target) -> list[str]:
    said = []
    for item in target.conditions:
        bound = item.epsilon_bound
        if bound is not None and claims.refuted(item):
            sure = f"{100 * bound.confidence:g} %"
            said.append(
                f"The privacy that {item.name} claims does not hold: accounting allows an epsilon of at most "
                f"{number(upper(item) or 0.0)}, and the canaries' coins show at least {number(bound.epsilon)} (with "
                f"{sure} confidence)."
            )
    return said


def _direct(target: Target) -> str:
    item = claims.find(target, target.direct)
    leak = claims.leak(target, item) if item else None
    if leak is None:
        return ""
    proof = (
        f"over all {leak.difference.n} canaries their {NAMES[leak.metric]} {_changed(leak.difference)}, "
        f"{p_value(leak.difference.p_holm)}"
    )
    if not leak.shown:
        nothing = "Direct fine-tuning shows no memorisation of the planted secrets that this audit can tell from chance"
        return f"{nothing}{_hint(leak)}: {proof}."
    if leak.sure:
        return f"Direct fine-tuning memorised planted secrets that stand in the corpus {times(leak.sure)}: {proof}."
    groups = ""
    if leak.hinted:
        groups = f" (at {times(leak.hinted)} an interval points to it; each group alone is too small to be sure)"
    return f"Direct fine-tuning memorised planted secrets: {proof}{groups}."


def _told(target: Target, confidence: float) -> str:
    """What the model tells when asked to go on, beside the untouched model."""
    item, base = claims.find(target, target.direct), claims.find(target, target.untouched)
    found, before = (claims.told(each) if each else None for each in (item, base))
    if found is None or found.planted is None:
        return ""
    share = found.planted
    part = f"{counted(share)} secrets to the letter" if share.value else f"none of {share.n} secrets"
    beside = ""
    if before is not None and before.planted is not None:
        beside = f"; the untouched model told {round(before.planted.value * before.planted.n) or 'none'}"
    ends = f"{100 * confidence:g} % interval {percent_span(share)}"
    return f"Asked to go on where a secret begins, it told {part} ({ends}){beside}."


def _found_out(target: Target) -> str:
    item = claims.find(target, target.direct)
    attack = claims.found_out(target, item) if item else None
    if attack is None:
        return ""
    return (
        f"Its training records can be told from unseen ones better than by chance (area {with_span(attack.auc)} under "
        "the curve, where chance gives 0.5)."
    )


def _others(target: Target) -> str:
    """Which defences leak, in one sentence."""
    leaking, quiet = ([name for name in names if name != target.direct] for names in claims.by_leak(target))
    parts = []
    if leaking:
        parts.append(f"under {listed(leaking)} secrets leak{' too' if target.direct else ''}")
    if quiet:
        parts.append(f"under {listed(quiet)} this audit sees no leak that it can tell from chance")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _condition(target: Target, item: Condition) -> str:
    """Where a trained condition stands between the untouched model and direct fine-tuning."""
    leak = claims.leak(target, item)
    if leak is None:
        return ""
    if leak.sure:
        first = f"leaks where a canary stands in the corpus {times(leak.sure)}"
    elif leak.whole:
        first = f"leaks over all canaries, {p_value(leak.difference.p_holm)}"
    else:
        first = f"no leak that this audit can tell from chance{_hint(leak)}"
    against = claims.compared(item, target.direct) if item.name != target.direct else None
    return f"{first}{_against(*against) if against else ''}{_says(item)}."


def _against(metric: str, difference: Difference) -> str:
    p = p_value(difference.p_holm)
    if difference.p_holm >= SURE:
        return f"; its secrets' {NAMES[metric]} can't be told from direct fine-tuning's, {p}"
    private = difference.value < 0 if difference.scale == "difference" else difference.value > 1
    return (
        f"; keeps secrets {'more' if private else 'less'} private than direct fine-tuning (their {NAMES[metric]} "
        f"{_changed(difference)}, {p})"
    )


def _says(item: Condition) -> str:
    found = claims.told(item)
    if found is None or found.planted is None:
        return ""
    part = counted(found.planted) if found.planted.value else f"none of {found.planted.n}"
    return f"; tells {part} secrets when asked to go on"


def _capability(target: Target) -> str:
    base = claims.find(target, target.untouched)
    start = base.metrics.get("held_out_perplexity") if base else None
    ends = [
        f"{number(figure.value)} under {item.name}"
        for item in target.conditions
        if item.trained and (figure := item.metrics.get("held_out_perplexity"))
    ]
    if start is None or not ends:
        return ""
    return (
        f"What it costs: {CATALOGUE['held_out_perplexity'].title.lower()}, where lower is more capable, is "
        f"{number(start.value)} untouched, {listed(ends)}."
    )


def _limits(target: Target) -> str:
    base = claims.find(target, target.untouched)
    counted_in = base.metrics.get("verbatim_perplexity") if base else None
    if counted_in is None:
        return ""
    groups = [estimate.n for key, estimate in counted_in.by_multiplicity.items() if key != "0"]
    few = f", {min(groups)} to a multiplicity at the fewest" if len(groups) > 1 else ""
    return (
        f"All this rests on one run of each condition and on {counted_in.n} canaries{few}: what is not seen here is "
        "not shown to be safe."
    )


def _hint(leak: Leak) -> str:
    """Where a small group stands out although no test finds anything: said, but not claimed."""
    return f" (at {times(leak.hinted)} alone an interval points to one)" if leak.hinted else ""


def _changed(difference: Difference) -> str:
    """`rose by 3.80 [2.91, 4.60] bits`; `changed` where the interval holds both directions."""
    value, low, high = difference.value, difference.low, difference.high
    if difference.scale == "ratio":
        return f"changed by a factor of {with_span(difference)}"
    if low is not None and low > 0:
        return f"rose by {with_span(difference)} bits"
    if low is not None and high is not None and high < 0:
        return f"fell by {with_span(Estimate(value=-value, low=-high, high=-low, n=difference.n))} bits"
    return f"changed by {'+' if value > 0 else ''}{with_span(difference)} bits"
