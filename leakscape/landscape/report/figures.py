"""The tables of all metrics, by side, and of differences."""

from collections.abc import Mapping

from leakscape.landscape.catalogue import Entry
from leakscape.landscape.report.parts import (
    Cell,
    Head,
    Section,
    Table,
    condition_row,
    difference_cell,
    estimate_cell,
    tables,
)
from leakscape.landscape.schema import Condition, Figure, Target
from leakscape.landscape.words import DASH, TIMES

_GROUPS = {
    "Secrets": (
        "What the model's probabilities tell of planted secrets",
        ("exposure_bits", "rank_first_share", "extrapolated_exposure_bits", "verbatim_perplexity",
         "unplanted_perplexity", "semantic_perplexity"),
    ),
    "Extraction": (
        "What the model tells, or would tell",
        ("extraction_rate", "near_extraction_rate", "sampled_extraction_rate", "generation_probability",
         "log10_generation_probability"),
    ),
    "Membership, bound and judge": (
        "What an adversary knows of members, and what a judge says of the corpus",
        ("membership_auc", "membership_tpr_at_1_percent", "membership_tpr_at_0_1_percent", "canary_membership_auc",
         "epsilon_lower_bound", "judged_privacy"),
    ),
    "Capability": ("What the model learned", ()),
    "Others": ("What helps to read the rest", ()),
}  # fmt: skip
"""What each table holds, and its metrics; those that no table names stand by their side."""

_RANKED = {"Secrets": "privacy", "Capability": "capability"}
_BY_COPIES = ("verbatim_perplexity", "semantic_perplexity", "exposure_bits", "generation_probability")


def all_metrics(target: Target, entries: Mapping[str, Entry], level: str) -> Section:
    """Every figure, a table a side."""
    made = []
    for group, shown in _groups(target, entries).items():
        side = _RANKED.get(group, "")
        heads = [Head(entry.title, _note(entry, target)) for entry in shown]
        cells = {item.name: [_figure(item, entry.name) for entry in shown] for item in target.conditions}
        if side:
            heads.append(Head(f"{side.capitalize()} rank", "mean over the side, 1 the best"))
            for item in target.conditions:
                cells[item.name].append(_rank(item, side))
        made.append(
            Table(
                label=f"All metrics: {group.lower()}",
                caption=f"{group}. {_GROUPS[group][0]}, with {level} intervals. The shaded row is the untouched model.",
                heads=heads,
                rows=[condition_row(target, item, cells[item.name]) for item in target.conditions],
                sortable=True,
            )
        )
    return Section(
        "metrics", "All metrics", "", notes=["A head sorts its column; a third press puts back the plan's order."],
        tables=tables(*made),
    )  # fmt: skip


def _groups(target: Target, entries: Mapping[str, Entry]) -> dict[str, list[Entry]]:
    """The metrics that any condition has, by table, in the tables' order."""
    there = list(dict.fromkeys(name for item in target.conditions for name in item.metrics))
    found = {name: entries.get(name) or _unknown(name) for name in there}
    groups = {
        group: [found[name] for name in names if name in found]
        for group, (_, names) in _GROUPS.items()
    }  # fmt: skip
    placed = {entry.name for shown in groups.values() for entry in shown}
    by_side = {"privacy": "Membership, bound and judge", "capability": "Capability"}
    for entry in [*(each for name, each in entries.items() if name in found), *found.values()]:
        if entry.name not in placed:
            groups[by_side.get(entry.side, "Others")].append(entry)
            placed.add(entry.name)
    return {group: shown for group, shown in groups.items() if shown}


def _unknown(name: str) -> Entry:
    """A metric of another version: shown under its own name."""
    return Entry(name=name, title=name, side="reference", better="low", unit="", note="", counts="items")


def _note(entry: Entry, target: Target) -> str:
    good = f"{entry.better} is good" if entry.side != "reference" else ""
    sizes = sorted({item.metrics[entry.name].n for item in target.conditions if entry.name in item.metrics})
    size = f"n\N{NO-BREAK SPACE}{sizes[0]}" if len(sizes) == 1 else f"n {sizes[0]} to {sizes[-1]}"
    return "; ".join(note for note in (entry.unit, entry.note, good, size) if note)


def _figure(item: Condition, metric: str) -> Cell:
    return estimate_cell(item.metrics.get(metric), none="not measured")


def _rank(item: Condition, side: str) -> Cell:
    rank = item.ranks.get(side)
    if rank is None:
        return Cell(DASH)
    return Cell(f"{rank.value:.3g}", f"[{rank.low:.3g}, {rank.high:.3g}]", key=repr(rank.value))


def differences(target: Target, entries: Mapping[str, Entry]) -> Section:
    """Every paired difference, to the untouched model and to direct fine-tuning."""
    made = []
    groups = _groups(target, entries)
    able = [entry for group in ("Capability", "Others") for entry in groups.pop(group, [])]
    sides = {"privacy": [entry for shown in groups.values() for entry in shown], "capability": able}
    for reference in dict.fromkeys(name for name in (target.untouched, target.direct) if name):
        for side, shown in sides.items():
            kept = [entry for entry in shown if _compares(target, reference, entry.name)]
            made.append(
                Table(
                    label=f"Differences to {reference}: {side}",
                    caption=f"Against {reference}: {side}.",
                    heads=[Head(entry.title) for entry in kept],
                    rows=[
                        condition_row(target, item, [difference_cell(found.get(entry.name)) for entry in kept])
                        for item in target.conditions
                        if (found := item.differences.get(reference)) is not None and kept
                    ],
                    sortable=True,
                )
            )
    how = (
        f"Paired by canary or record: perplexities as a factor ({TIMES}1 is no difference), other metrics as a "
        "difference. p by sign-flip test, corrected over conditions (Holm); bold below 0.05."
    )
    return Section("differences", "Differences", "", notes=[how], tables=tables(*made))


def _compares(target: Target, reference: str, metric: str) -> bool:
    return any(metric in item.differences.get(reference, {}) for item in target.conditions)


def multiplicities(target: Target, entries: Mapping[str, Entry], level: str) -> list[Table]:
    """The figures behind the pictures of leakage, for those who read rather than look."""
    made = []
    for name in _BY_COPIES:
        title = entries[name].title
        found = {item.name: item.metrics[name] for item in target.conditions if name in item.metrics}
        made.append(_copies(target, f"{title} by multiplicity", found, level))
    return tables(*made)


def _copies(target: Target, label: str, found: Mapping[str, Figure], level: str) -> Table | None:
    copies = sorted({int(key) for figure in found.values() for key in figure.by_multiplicity})
    if not copies:
        return None
    return Table(
        label=label,
        caption=f"{label}: columns are copies of the canary in the corpus, with {level} intervals.",
        heads=[Head(f"{TIMES}{key}" if key else "left out") for key in copies],
        rows=[
            condition_row(
                target, item, [estimate_cell(found[item.name].by_multiplicity.get(str(key))) for key in copies]
            )
            for item in target.conditions
            if item.name in found
        ],
        folded=True,
    )
