"""Figures as people read them, and the report's first paragraphs."""

from collections.abc import Sequence

from leakscape.landscape.schema import Condition, Difference, Estimate, Target

TIMES = "\N{MULTIPLICATION SIGN}"
DASH = "\N{EN DASH}"
SURE = 0.05


def number(value: float) -> str:
    """Three significant digits; very large and very small ones as powers of ten."""
    size = abs(value)
    if size and (size < 1e-3 or size >= 1e5):  # noqa: PLR2004 - where digits stop being readable
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}{TIMES}10{_superscript(int(exponent))}"
    if size >= 100:  # noqa: PLR2004
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".") if size else "0"


def _superscript(value: int) -> str:
    return str(value).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def span(estimate: Estimate) -> str:
    """An interval in brackets; a dash where it has none."""
    if estimate.low is None:
        return DASH
    high = "∞" if estimate.high is None else number(estimate.high)
    return f"[{number(estimate.low)}, {high}]"


def with_span(estimate: Estimate) -> str:
    """A figure and its interval."""
    return f"{number(estimate.value)} {span(estimate)}"


def p_value(p: float) -> str:
    """`p = 0.03`, or `p < 0.001`."""
    return "p < 0.001" if p < 1e-3 else f"p = {p:.2g}"  # noqa: PLR2004


def change(difference: Difference) -> str:
    """A ratio as a factor, a difference with its sign."""
    if difference.scale == "ratio":
        return f"{TIMES}{number(difference.value)} {span(difference)}"
    return f"{'+' if difference.value > 0 else ''}{number(difference.value)} {span(difference)}"


def opening(target: Target, confidence: float) -> list[str]:
    """What was found and how sure it is, a sentence or two for each point, in plain words."""
    said = [*_direct(target, confidence), *_others(target), *_capability(target), *_limits(target)]
    return said or ["Nothing that compares was measured: an untouched model and a trained one are needed."]


def _direct(target: Target, confidence: float) -> list[str]:
    found, base = _find(target, target.direct), _find(target, target.untouched)
    if found is None or base is None:
        return []
    against = _against_untouched(found, target, "verbatim_perplexity")
    if against is None:
        return []
    leaks = _leaking(against.by_multiplicity)
    if not leaks:
        nothing = "Direct fine-tuning shows no memorisation of the planted secrets that this audit can tell from chance"
        return [f"{nothing}: over all canaries their perplexity changed by a factor of {with_span(against)}."]
    ours, theirs = (_at(item, "verbatim_perplexity", leaks[-1]) for item in (found, base))
    ends = ""
    if ours and theirs:
        ends = (
            f" At {TIMES}{leaks[-1]} the secret's perplexity fell from {with_span(theirs)} in the untouched model to "
            f"{with_span(ours)}."
        )
    certain = f"the {100 * confidence:g} % intervals of the paired differences lie wholly below no change"
    return [f"Direct fine-tuning memorised canaries that stand in the corpus {_copies(leaks)}: {certain}.{ends}"]


def _others(target: Target) -> list[str]:
    """Where each other trained condition stands between the untouched model and direct fine-tuning."""
    return [
        sentence
        for item in target.conditions
        if item.trained and item.name != target.direct and (sentence := _other(target, item))
    ]


def _other(target: Target, item: Condition) -> str:
    against = _against_untouched(item, target, "verbatim_perplexity")
    if against is None:
        return ""
    leaks = _leaking(against.by_multiplicity)
    first = (
        f"Under {item.name} canaries leak when they stand in the corpus {_copies(leaks)}"
        if leaks
        else f"Under {item.name} no multiplicity shows a leak that this audit can tell from chance"
    )
    compared = item.differences.get(target.direct or "", {}).get("verbatim_perplexity")
    if compared is None:
        return first + "."
    if compared.p_holm >= SURE:
        return f"{first}; its secrets' perplexity can't be told from direct fine-tuning's ({p_value(compared.p_holm)})."
    way = "more" if compared.value > 1 else "less"
    factor = Estimate(value=compared.value, low=compared.low, high=compared.high, n=compared.n)
    return (
        f"{first}; against direct fine-tuning it keeps secrets {way} private (their perplexity is "
        f"{with_span(factor)} times direct's, {p_value(compared.p_holm)})."
    )


def _capability(target: Target) -> list[str]:
    base = _find(target, target.untouched)
    start = base.metrics.get("held_out_perplexity") if base else None
    ends = [
        f"{number(figure.value)} under {item.name}"
        for item in target.conditions
        if item.trained and (figure := item.metrics.get("held_out_perplexity"))
    ]
    if start is None or not ends:
        return []
    return [
        (
            "The model's perplexity on unseen records, where lower is more capable, is "
            f"{number(start.value)} untouched, {_listed(ends)}."
        )
    ]


def _limits(target: Target) -> list[str]:
    base = _find(target, target.untouched)
    counted = base.metrics.get("verbatim_perplexity") if base else None
    if counted is None:
        return []
    groups = [estimate.n for estimate in counted.by_multiplicity.values()]
    few = f", {min(groups)} to a multiplicity at the fewest" if groups else ""
    return [
        (
            f"All this rests on {counted.n} canaries{few}, and on attacks that read the model's probabilities: what is "
            "not seen here is not shown to be safe."
        )
    ]


def _leaking(parts: dict[str, Estimate]) -> list[int]:
    """The multiplicities at which the perplexity fell, the whole interval below 1."""
    return sorted(int(copies) for copies, item in parts.items() if item.high is not None and item.high < 1)


def _copies(copies: Sequence[int]) -> str:
    shown = _listed([f"{TIMES}{item}" for item in copies])
    return f"{shown}" if copies != [1] else "once"


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _find(target: Target, name: str | None) -> Condition | None:
    return next((item for item in target.conditions if item.name == name), None)


def _at(item: Condition, metric: str, copies: int) -> Estimate | None:
    figure = item.metrics.get(metric)
    return figure.by_multiplicity.get(str(copies)) if figure else None


def _against_untouched(item: Condition, target: Target, metric: str) -> Difference | None:
    return item.differences.get(target.untouched or "", {}).get(metric)
