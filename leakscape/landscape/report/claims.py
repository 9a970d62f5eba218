"""What figures allow to be said of a condition, and no more than that."""

from collections.abc import Sequence
from dataclasses import dataclass

from leakscape.landscape.charts.budget import upper
from leakscape.landscape.charts.membership import primary
from leakscape.landscape.schema import Attack, Condition, Difference, Estimate, Extraction, Target
from leakscape.landscape.words import SURE

NAMES = {"exposure_bits": "exposure", "verbatim_perplexity": "perplexity"}
"""What leakage is told by, the better witness first."""


@dataclass(frozen=True, slots=True)
class Leak:
    """What a condition's difference to the untouched model shows.

    Args:
        metric: it is of exposure where that was measured: fine-tuning changes the perplexity of every name in a
            record's place, planted or not, and a rank among unplanted names does not see that.
        difference: over all canaries.
        whole: whether it is a leak by the test over all canaries, corrected over conditions.
        sure: multiplicities that leak by their own test, corrected over conditions and multiplicities.
        hinted: others whose whole interval points to a leak; a group of few can do so by chance.
    """

    metric: str
    difference: Difference
    whole: bool
    sure: list[int]
    hinted: list[int]

    @property
    def shown(self) -> bool:
        """Whether there is a leak that may be called one."""
        return self.whole or bool(self.sure)


def find(target: Target, name: str | None) -> Condition | None:
    """A condition by its name."""
    return next((item for item in target.conditions if item.name == name), None)


def compared(item: Condition, reference: str | None) -> tuple[str, Difference] | None:
    """How a condition's leakage differs from a reference's, by the best witness that was measured."""
    differences = item.differences.get(reference or "", {})
    return next(((metric, differences[metric]) for metric in NAMES if metric in differences), None)


def leak(target: Target, item: Condition) -> Leak | None:
    """What a condition leaks beyond the untouched model; None where that was not measured."""
    found = compared(item, target.untouched)
    if found is None or item.name == target.untouched:
        return None
    metric, difference = found
    groups = {int(key): part for key, part in difference.by_multiplicity.items() if key != "0"}
    sure = [key for key, part in groups.items() if part.p_holm < SURE and _leaks(difference.scale, part)]
    hinted = [key for key, part in groups.items() if key not in sure and _wholly(difference.scale, part)]
    whole = difference.p_holm < SURE and _leaks(difference.scale, difference)
    return Leak(metric, difference, whole, sorted(sure), sorted(hinted))


def _leaks(scale: str, found: Estimate) -> bool:
    """Whether a difference goes in a leak's direction: more exposure, or a lower perplexity."""
    return found.value > 0 if scale == "difference" else found.value < 1


def _wholly(scale: str, found: Estimate) -> bool:
    """Whether its whole interval does."""
    if scale == "difference":
        return found.low is not None and found.low > 0
    return found.high is not None and found.high < 1


def told(item: Condition, way: str = "greedy_exact") -> Extraction | None:
    """What the model told in one way to count."""
    return next((each for each in item.extraction if each.way == way and each.planted is not None), None)


def found_out(target: Target, item: Condition) -> Attack | None:
    """The primary attack on training records where it beats chance: the interval lies above one half.

    None where the untouched model, which saw none of them, seems to be beaten too: records and others then differ by
    themselves.
    """
    base = find(target, target.untouched)
    before, attack = primary(base, "record") if base else None, primary(item, "record")
    if before is not None and _above_half(before):
        return None
    return attack if attack is not None and item.trained and _above_half(attack) else None


def _above_half(attack: Attack) -> bool:
    return attack.auc.low is not None and attack.auc.low > 0.5  # noqa: PLR2004 - the area at chance


def holds_for_unit(item: Condition) -> bool:
    """Whether the coins' bound may be held against the accountant's: both speak of the same unit."""
    bound = item.epsilon_bound
    return bound is not None and (item.privacy.get("unit") == "person" or bound.copies == [1])


def refuted(item: Condition) -> bool:
    """Whether the coins contradict the accountant's epsilon.

    A bound at a delta at least as large as the claim's refutes the claim too.
    """
    bound, claimed, delta = item.epsilon_bound, upper(item), item.privacy.get("delta")
    if bound is None or claimed is None or not isinstance(delta, int | float):
        return False
    return holds_for_unit(item) and bound.delta >= delta and bound.epsilon > claimed


def by_leak(target: Target) -> tuple[Sequence[str], Sequence[str]]:
    """Trained conditions that leak, and those under which no leak can be told from chance."""
    pairs = [(item.name, leak(target, item)) for item in target.conditions if item.trained]
    shown = [name for name, found in pairs if found is not None and found.shown]
    hidden = [name for name, found in pairs if found is not None and not found.shown]
    return shown, hidden
