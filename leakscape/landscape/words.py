"""Figures as people read them."""

from collections.abc import Sequence

from leakscape.landscape.schema import Difference, Estimate

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


def counted(share: Estimate) -> str:
    """A share as people count it: `8 of 20`."""
    return f"{round(share.value * share.n)} of {share.n}"


def percent_span(share: Estimate) -> str:
    """The interval of a share: `19 to 64 %`."""
    if share.low is None or share.high is None:
        return DASH
    return f"{100 * share.low:.0f} to {100 * share.high:.0f} %"


def times(copies: Sequence[int]) -> str:
    """Multiplicities: `once`, `\N{MULTIPLICATION SIGN}4 and \N{MULTIPLICATION SIGN}16`."""
    return "once" if list(copies) == [1] else listed([f"{TIMES}{item}" for item in copies])


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
