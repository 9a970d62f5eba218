"""Sections on what an adversary gets: secrets told, members found, and the budget held against the coins."""

from collections.abc import Sequence
from typing import Any

from leakscape.landscape import charts
from leakscape.landscape.charts.budget import upper
from leakscape.landscape.charts.leakage import WAYS
from leakscape.landscape.charts.membership import primary
from leakscape.landscape.report import claims, findings
from leakscape.landscape.report.parts import (
    Cell,
    Head,
    Section,
    Table,
    condition_row,
    estimate_cell,
    pictures,
    share_cell,
    tables,
)
from leakscape.landscape.schema import Attack, Condition, Detected, Extraction, Target
from leakscape.landscape.words import DASH, TIMES, number

TITLES = {
    "loss": "Loss",
    "zlib": "Loss over zlib",
    "min_k": "Min-K%",
    "min_k_plus_plus": "Min-K%++",
    "reference": "Reference",
}
"""The attacks as people read them."""

_SHORT = {
    "greedy_exact": "Likeliest, exact",
    "greedy_near": "Likeliest, nearly",
    "sampled_exact": "Sampled, exact",
    "sampled_near": "Sampled, nearly",
}

NO_COIN = (
    "No canary was left out by a coin, so nothing is shown from below. A plan gets a lower bound with inclusion: coin "
    "under canaries (canary-insert --inclusion coin), and with multiplicity 1 alone if it is to be held against the "
    "epsilon of single records."
)


def extraction(target: Target, name: str, level: str) -> Section:
    """What the model tells when it goes on."""
    caption = (
        f"Each model reads a canary's record up to its secret and goes on. Bars are exact {level} intervals over "
        "canaries. “Nearly” is at least nine tenths of the letters in order; samples are drawn at temperature 1. "
        "Hollow: canaries that a coin left out, which is what guessing gives."
    )
    return Section(
        "extraction", "Extraction", findings.extraction(target),
        pictures(charts.extraction(target, f"extraction-{name}"), caption=caption),
        tables=tables(_told(target, level), *(_told_by_copies(target, way) for way in WAYS)),
    )  # fmt: skip


def _told(target: Target, level: str) -> Table:
    shown = [item for item in target.conditions if item.extraction]
    ways = [way for way in WAYS if any(_way(item, way) for item in shown)]
    left_out = any(each.left_out for item in shown for each in item.extraction)
    rows = []
    for item in shown:
        found = [_way(item, way) for way in ways]
        cells = [share_cell(each.planted if each else None) for each in found]
        if left_out:
            cells += [share_cell(each.left_out if each else None) for each in found]
        rows.append(condition_row(target, item, cells))
    heads = [Head(_SHORT[way], "planted") for way in ways]
    heads += [Head(_SHORT[way], "left out") for way in ways] if left_out else []
    return Table("Secrets told", f"Canaries whose secret was told, with exact {level} intervals.", heads, rows,
                 sortable=True)  # fmt: skip


def _told_by_copies(target: Target, way: str) -> Table:
    found = {item.name: each.by_multiplicity for item in target.conditions if (each := _way(item, way))}
    copies = sorted({int(key) for parts in found.values() for key in parts})
    return Table(
        label=f"{WAYS[way]}, by multiplicity",
        caption=f"{WAYS[way]}: canaries told, by copies in the corpus.",
        heads=[Head(f"{TIMES}{key}") for key in copies],
        rows=[
            condition_row(target, item, [share_cell(found[item.name].get(str(key))) for key in copies])
            for item in target.conditions
            if item.name in found and copies
        ],
        folded=True,
    )


def _way(item: Condition, way: str) -> Extraction | None:
    return next((each for each in item.extraction if each.way == way), None)


def membership(target: Target, name: str, level: str) -> Section:
    """Whose record was trained on."""
    attack = next((each.attack for item in target.conditions for each in item.attacks if each.primary), "")
    roc = (
        f"The attack {_title(attack)}, named in advance: how many members each threshold finds, over how many others "
        "it takes for members. Dotted: chance. On the right the part that matters to one person: few false alarms "
        "(dashed: 1 % and 0.1 %). Where others are too few for one of them to be that share, nothing is known."
    )
    areas = (
        f"The area under the curve, with {level} intervals. Records: 0.5 is chance. Canaries differ from unseen "
        "records before any training, since their medication is coined: read their area against the untouched model's."
    )
    return Section(
        "membership", "Membership", findings.membership(target),
        [
            *pictures(charts.roc(target, f"roc-{name}"), caption=roc),
            *pictures(charts.areas(target, f"areas-{name}"), caption=areas),
        ],
        tables=tables(_primary(target, attack, level), _every(target), _areas_by_copies(target)),
    )  # fmt: skip


def _primary(target: Target, attack: str, level: str) -> Table:
    kinds = [kind for kind in ("record", "canary") if any(primary(item, kind) for item in target.conditions)]
    rows = []
    for item in target.conditions:
        found = [primary(item, kind) for kind in kinds]
        if any(found):
            rows.append(condition_row(target, item, [cell for each in found for cell in _figures(each)]))
    heads = []
    for kind in kinds:
        others = next(each.others for item in target.conditions if (each := primary(item, kind)))
        against = {
            ("record", "record"): "unseen records", ("canary", "canary"): "canaries left out",
            ("canary", "record"): "unseen records",
        }.get((kind, others), others)  # fmt: skip
        heads += [
            Head(f"{'Records' if kind == 'record' else 'Canaries'}: area", f"against {against}"),
            Head("Found at 1 %", "false alarms"),
            Head("Found at 0.1 %", "false alarms"),
        ]
    return Table("Membership by the primary attack", f"{_title(attack)}, with {level} intervals.", heads, rows,
                 sortable=True)  # fmt: skip


def _figures(found: Attack | None) -> list[Cell]:
    if found is None:
        return [Cell(DASH)] * 3
    return [estimate_cell(found.auc), *(_detected(found, allowed) for allowed in (0.01, 0.001))]


def _detected(found: Attack, allowed: float) -> Cell:
    at = next((each for each in found.detected if each.allowed == allowed), None)
    return Cell(DASH) if at is None else _share(at, found.others_count)


def _share(at: Detected, others: int) -> Cell:
    if not at.resolved:
        return Cell("not resolved", f"{others} others are too few")
    return share_cell(at)


def _every(target: Target) -> Table:
    rows = [
        condition_row(
            target, item,
            [
                Cell(_title(each.attack) + (" (primary)" if each.primary else ""), key=each.attack),
                Cell(_against(each), key=each.members),
                *_figures(each),
            ],
        )
        for item in target.conditions
        for each in item.attacks
    ]  # fmt: skip
    heads = [Head("Attack"), Head("Who from whom"), Head("Area"), Head("Found at 1 %"), Head("Found at 0.1 %")]
    caption = "Every attack. They are not independent, and the best of them is no fair estimate."
    return Table("All membership attacks", caption, heads, rows, sortable=True, folded=True)


def _against(attack: Attack) -> str:
    others = {"record": "unseen records", "canary": "canaries left out"}[attack.others]
    return (
        f"{attack.auc.n} {'records' if attack.members == 'record' else 'canaries'} from {attack.others_count} {others}"
    )


def _areas_by_copies(target: Target) -> Table:
    found = {item.name: each.by_multiplicity for item in target.conditions if (each := primary(item, "canary"))}
    copies = sorted({int(key) for parts in found.values() for key in parts})
    return Table(
        label="Area for canaries by multiplicity",
        caption="Area under the curve of the primary attack for canaries, by copies in the corpus.",
        heads=[Head(f"{TIMES}{key}") for key in copies],
        rows=[
            condition_row(target, item, [estimate_cell(found[item.name].get(str(key))) for key in copies])
            for item in target.conditions
            if item.name in found and copies
        ],
        folded=True,
    )


def _title(attack: str) -> str:
    return TITLES.get(attack, attack)


def budget(target: Target, name: str) -> Section:
    """What accounting allows beside what the coins show."""
    private = [item for item in target.conditions if item.privacy]
    coins = any(item.epsilon_bound for item in target.conditions)
    notes = [] if coins or not private else [NO_COIN]
    caption = (
        "From what the canaries' coins show at least (Steinke et al. 2023) to what accounting allows at most. Few "
        "canaries can show little: a lower bound near 0 is no proof of privacy. One above the upper bound would be a "
        "fault in training or accounting."
    )
    return Section(
        "budget", "Privacy budget", findings.budget(target) if any(upper(item) for item in private) else "",
        pictures(charts.budget(target, f"budget-{name}"), caption=caption),
        notes=notes,
        tables=tables(_allowed(target, private), _shown(target)),
    )  # fmt: skip


def _allowed(target: Target, private: Sequence[Condition]) -> Table:
    stated = (
        ("epsilon", "Epsilon, at most"), ("delta", "Delta"), ("unit", "Of each"), ("accountant", "Accountant"),
        ("sigma", "Sigma"), ("clip", "Clip"), ("expected_lot", "Expected lot"), ("sampling_rate", "Sampling rate"),
        ("steps", "Steps"),
    )  # fmt: skip
    return Table(
        label="What accounting allows",
        caption="What accounting allows, as the training log states it. A control trains alike without noise and "
        "claims nothing.",
        heads=[Head(title) for _, title in stated],
        rows=[condition_row(target, item, [_stated(item, key) for key, _ in stated]) for item in private],
    )


def _stated(item: Condition, key: str) -> Cell:
    value: Any = item.privacy.get(key)
    if value is None:
        return Cell("none claimed" if key == "epsilon" and item.privacy.get("control") else DASH)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Cell(str(value) if isinstance(value, int) else number(value), key=repr(value))
    return Cell(str(value), key=str(value))


def _shown(target: Target) -> Table:
    rows = []
    for item in target.conditions:
        bound = item.epsilon_bound
        if bound is None:
            continue
        alike = "yes" if claims.holds_for_unit(item) else "no: a canary with all its copies"
        rows.append(
            condition_row(
                target, item,
                [
                    Cell(number(bound.epsilon), f"{100 * bound.confidence:g} % confidence", key=repr(bound.epsilon)),
                    Cell(f"{bound.right} of {bound.guesses}", f"{bound.canaries} coins", key=repr(bound.right)),
                    Cell(number(bound.delta)),
                    Cell(_title(bound.attack)),
                    Cell(", ".join(f"{TIMES}{copies}" for copies in bound.copies) or DASH),
                    Cell(alike if item.privacy.get("epsilon") is not None else "nothing claimed"),
                ],
            )
        )  # fmt: skip
    heads = [
        Head("Epsilon, at least"), Head("Coins guessed right"), Head("At delta"), Head("Attack"),
        Head("Copies of those in"), Head("Of the same unit as claimed"),
    ]  # fmt: skip
    caption = "What the canaries' coins show. 0 shows nothing; guesses and attack were fixed in advance."
    return Table("What the coins show", caption, heads, rows)
