"""Figures as people read them, and the report's first paragraphs."""

from collections.abc import Sequence

from leakscape.landscape.schema import Condition, Difference, Estimate, Target

TIMES = "\N{MULTIPLICATION SIGN}"
DASH = "\N{EN DASH}"
SURE = 0.05

_NAMES = {"exposure_bits": "exposure", "verbatim_perplexity": "perplexity"}
"""What leakage is told by, the better witness first."""


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
    against = _leakage(found, target.untouched)
    if against is None:
        return []
    metric, difference = against
    leaks = _leaking(difference)
    if not leaks:
        nothing = "Direct fine-tuning shows no memorisation of the planted secrets that this audit can tell from chance"
        return [
            f"{nothing}{_hint(difference)}: over all canaries their {_NAMES[metric]} changed by {_amount(difference)}."
        ]
    ends = ""
    for shown in ("exposure_bits", "verbatim_perplexity"):
        ours, theirs = (_at(item, shown, leaks[-1]) for item in (found, base))
        if ours and theirs:
            ends += (
                f" At {TIMES}{leaks[-1]} the secret's {_NAMES[shown]} went from {with_span(theirs)} in the untouched "
                f"model to {with_span(ours)}."
            )
    way = "above" if difference.scale == "difference" else "below"
    certain = (
        f"the {100 * confidence:g} % intervals of the paired differences in {_NAMES[metric]} lie wholly {way} no change"
    )
    return [f"Direct fine-tuning memorised canaries that stand in the corpus {_copies(leaks)}: {certain}.{ends}"]


def _others(target: Target) -> list[str]:
    """Where each other trained condition stands between the untouched model and direct fine-tuning."""
    return [
        sentence
        for item in target.conditions
        if item.trained and item.name != target.direct and (sentence := _other(target, item))
    ]


def _other(target: Target, item: Condition) -> str:
    against = _leakage(item, target.untouched)
    if against is None:
        return ""
    leaks = _leaking(against[1])
    first = (
        f"Under {item.name} canaries leak when they stand in the corpus {_copies(leaks)}"
        if leaks
        else f"Under {item.name} no multiplicity shows a leak that this audit can tell from chance{_hint(against[1])}"
    )
    compared = _leakage(item, target.direct)
    if compared is None:
        return first + "."
    metric, difference = compared
    if difference.p_holm >= SURE:
        alike = f"its secrets' {_NAMES[metric]} can't be told from direct fine-tuning's"
        return f"{first}; {alike} ({p_value(difference.p_holm)})."
    private = difference.value < 0 if difference.scale == "difference" else difference.value > 1
    return (
        f"{first}; against direct fine-tuning it keeps secrets {'more' if private else 'less'} private (their "
        f"{_NAMES[metric]} differs by {_amount(difference)}, {p_value(difference.p_holm)})."
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


def _leakage(item: Condition, reference: str | None) -> tuple[str, Difference] | None:
    """How a condition's leakage differs from a reference's.

    By exposure where it was measured: fine-tuning changes the perplexity of every name in a record's place, planted or
    not, and a rank among unplanted names does not see that. By verbatim perplexity elsewhere.
    """
    differences = item.differences.get(reference or "", {})
    return next(((metric, differences[metric]) for metric in _NAMES if metric in differences), None)


def _leaking(difference: Difference) -> list[int]:
    """The multiplicities at which the whole interval shows a leak: exposure above 0, or a perplexity ratio below 1.

    None where the test over all canaries finds nothing: among several small groups one stands out by chance.
    """
    return _pointing(difference) if difference.p_holm < SURE else []


def _hint(difference: Difference) -> str:
    """Where a small group stands out although the test over all canaries finds nothing: said, but not claimed."""
    parts = _pointing(difference) if difference.p_holm >= SURE else []
    return f" (at {_copies(parts)} alone an interval points to one)" if parts else ""


def _pointing(difference: Difference) -> list[int]:
    return sorted(
        int(copies)
        for copies, item in difference.by_multiplicity.items()
        if (item.low is not None and item.low > 0 if difference.scale == "difference" else (item.high or 1) < 1)
    )


def _amount(difference: Difference) -> str:
    figure = Estimate(value=difference.value, low=difference.low, high=difference.high, n=difference.n)
    return f"{with_span(figure)} bits" if difference.scale == "difference" else f"a factor of {with_span(figure)}"


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
