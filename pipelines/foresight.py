"""What a plan can detect and what it costs, as a person reads it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pipelines.cost import Cost
from pipelines.power import GroupPower, Power
from pipelines.show import printed, table

if TYPE_CHECKING:
    from rich.table import Table


def _table(words: str, *numbers: str) -> "Table":
    return table(words, *numbers, numbers=numbers)


def power_text(found: Sequence[Power], *, width: int = 110) -> str:
    """What a plan can show of each target, before anything is trained."""
    return "\n".join(_power(power, width, named=len(found) > 1) for power in found)


def _power(power: Power, width: int, *, named: bool) -> str:
    of = f" of {', '.join(power.targets)}" if named else ""
    others = f"{power.comparisons} conditions" if power.comparisons > 1 else "1 condition"
    if len(power.groups) > 2:  # noqa: PLR2004 - all planted, and more than one multiplicity
        others += ", in a group over the multiplicities too"
    head = (
        f"What this plan can show{of}: found in {power.power:.0%} of runs, against the untouched model, after "
        f"correction over {others}"
    )
    return printed([head, _groups(power), *_sentences(power), *(f"Warning: {text}" for text in power.warnings)], width)


def _groups(power: Power) -> "Table":
    made = _table("canaries", "n", "bits, paired", "bits, unpaired", "0 found: at most", "smallest p")
    for group in power.groups:
        made.add_row(
            _name(group),
            str(group.canaries),
            "none" if group.paired_bits is None else f"{group.paired_bits:.2f}",
            "-" if group.unpaired_bits is None else f"{group.unpaired_bits:.2f}",
            f"{group.at_most_if_none:.1%}",
            f"{group.smallest_p:.2g}",
        )
    return made


def _name(group: GroupPower) -> str:
    return "all planted" if group.multiplicity is None else f"x{group.multiplicity}"


def _sentences(power: Power) -> Iterable[str]:
    if power.candidates:
        yield (
            f"Bits are of exposure among {power.candidates:,} names. Its spread under a defence is not known before; "
            f"taken is that of chance ranks, {power.null_sd:.3f} bits, for the difference of a canary under two "
            "conditions (paired: they correlate by a half) or for each of them (unpaired: they do not)."
        )
    for need in power.needed:
        yield f"Finding {need.bits:g} bits takes {need.paired:,} canaries paired, {need.unpaired:,} unpaired."
    if power.coins and power.epsilon is not None:
        yield (
            f"Coins leave out {power.left_out} canaries. If every guess were right they would show that epsilon is at "
            f"least {power.epsilon:.2f} (delta {power.delta:g}); a larger one can't be shown."
        )
    if power.records:
        can = [f"{rate.rate * 100:g} %" for rate in power.rates if rate.resolved]
        cannot = [f"{rate.rate * 100:g} %" for rate in power.rates if not rate.resolved]
        shown = [f"{' and '.join(can)} can be shown"] if can else []
        shown += [f"{' and '.join(cannot)} can't"] if cannot else []
        yield (
            f"Membership is told on {power.records:,} records of each side: of false-positive rates {', '.join(shown)}."
        )


def cost_text(cost: Cost, *, width: int = 110) -> str:
    """A plan's work, in counts."""
    parts: list[object] = []
    if cost.training:
        parts += ["Training", _training(cost)]
    if cost.asking:
        parts += ["Asking language models", _asking(cost)]
    parts += ["Scoring", _scoring(cost)]
    if cost.shared:
        shared = "; ".join(f"{title} ({count} conditions)" for title, count in cost.shared)
        parts.append(f"Shared, so run once: {shared}.")
    if benchmarks := dict.fromkeys(name for one in cost.scoring for name in one.benchmarks):
        parts.append(f"Not counted: the benchmarks {', '.join(benchmarks)}.")
    parts.append(f"{cost.saved} steps are spared because equal steps are one.")
    parts.append(
        f"Tokens are estimates: records of {cost.characters:.0f} characters, as the built-in population's are on "
        "average, and the model's own tokenizer where it lies here, else 3 characters a token. FLOPs are 6 for a "
        "parameter and a token; a LoRA adapter takes about two thirds of that. What hours it takes hangs on the "
        "machine and is not guessed."
    )
    return printed(parts, width)


def _training(cost: Cost) -> "Table":
    made = _table("step", "records", "epochs", "steps", "tokens", "FLOPs")
    for one in cost.training:
        flops = "unknown" if one.flops is None else f"{one.flops:.1e}"
        made.add_row(one.title, _count(one.instances), str(one.epochs), _count(one.steps), _about(one.tokens), flops)
    return made


def _asking(cost: Cost) -> "Table":
    made = _table("step", "requests", "tokens in", "tokens out", "money")
    for one in cost.asking:
        money = "no price given" if one.money is None else f"{one.money:,.2f}"
        made.add_row(one.title, _count(one.requests), _about(one.tokens_in), _about(one.tokens_out), money)
    return made


def _scoring(cost: Cost) -> "Table":
    made = _table("step", "texts", "names", "passes", "continuations")
    for one in cost.scoring:
        made.add_row(one.title, _count(one.texts), _count(one.names), _about(one.passes), _count(one.continuations))
    return made


def _count(value: int | None) -> str:
    return "the data tell" if value is None else f"{value:,}"


def _about(value: int | None) -> str:
    """Two digits are as many as an estimate has."""
    if value is None:
        return "unknown"
    return f"~{float(f'{value:.2g}'):,.0f}" if value else "0"
