"""The section on the corpora behind conditions: judged, audited without a model, and what they cost."""

from leakscape.landscape import charts
from leakscape.landscape.charts.corpora import audited
from leakscape.landscape.report import findings
from leakscape.landscape.report.parts import (
    Cell,
    Head,
    Row,
    Section,
    Table,
    estimate_cell,
    pictures,
    share_cell,
    tables,
)
from leakscape.landscape.schema import Cost, Judged, Target
from leakscape.landscape.words import DASH, SURE, number, p_value

_DIGITS = 12  # of a digest, enough to find it in "How it was made"
_MOST_REASONS = 3


def judged(target: Target, name: str, level: str) -> Section:
    """What a judge says of each corpus."""
    caption = (
        f"Scores of each record against its source, means with {level} intervals. Privacy alone is won by an empty "
        "text: read the two together. A judge sees the corpus, not what a model learns from it."
    )
    return Section(
        "judge", "Judge", "", pictures(charts.judged(target, f"judged-{name}"), caption=caption),
        tables=tables(_judged(target, level)),
    )  # fmt: skip


def _judged(target: Target, level: str) -> Table:
    rows = [
        Row(
            item.name,
            [
                Cell(each.judge), estimate_cell(each.privacy, none="not judged"),
                estimate_cell(each.quality, none="not judged"), Cell(f"{each.records:,}", key=str(each.records)),
                Cell(_reasons(each)), Cell(each.corpus[:_DIGITS]),
            ],
            place=target.conditions.index(item),
        )
        for item in target.conditions
        for each in item.judged
    ]  # fmt: skip
    heads = [
        Head("Judge"), Head("Privacy", "1 to 5, high is good"), Head("Quality", "1 to 5, high is good"),
        Head("Records"), Head("Commonest reasons"), Head("Corpus", "digest"),
    ]  # fmt: skip
    return Table("Judged corpora", f"A judge's scores, with {level} intervals.", heads, rows, sortable=True)


def _reasons(each: Judged) -> str:
    first = sorted(each.reasons.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_REASONS]
    return ", ".join(f"{reason.replace('_', ' ')} {count:,}" for reason, count in first) or DASH


def disclosed(target: Target, name: str) -> Section:
    """What each corpus shows of its own people beyond chance."""
    caption = (
        "The corpus audit, without a model: people of whom the corpus shows something rare, among those that it was "
        "made from, beside people that it never saw (phantoms: what chance shows). p of an exact test, corrected over "
        "the features of a corpus (Holm); bold below 0.05."
    )
    rows = [
        Row(
            names,
            [
                Cell(each.feature.replace("_", " "), key=each.feature), share_cell(each.train),
                share_cell(each.held_out), Cell(number(each.beyond_chance), key=repr(each.beyond_chance)),
                Cell(p_value(each.p_holm), key=repr(each.p_holm), sure=each.p_holm < SURE),
                Cell(each.corpus[:_DIGITS]),
            ],
        )
        for names, found in audited(target)
        for each in found
    ]  # fmt: skip
    heads = [
        Head("Feature"), Head("Disclosed", "of people it was made from"), Head("Phantoms", "of people it never saw"),
        Head("Beyond chance", "people"), Head("p", "corrected (Holm)"), Head("Corpus", "digest"),
    ]  # fmt: skip
    table = Table("Disclosures and phantoms", "Disclosures by corpus and feature.", heads, rows, first="Corpus of",
                  sortable=True, folded=True)  # fmt: skip
    shown = pictures(charts.disclosures(target, f"disclosures-{name}"), caption=caption)
    return Section("disclosures", "Disclosures", findings.disclosures(target), shown, tables=tables(table))


def costs(target: Target) -> Section:
    """What asking a model for these corpora took."""
    grouped: dict[str, tuple[list[str], Cost]] = {}
    for item in target.conditions:
        for each in item.costs:
            names = grouped.setdefault(repr(each), ([], each))[0]
            if item.name not in names:
                names.append(item.name)
    outcomes = list(dict.fromkeys(outcome for _, each in grouped.values() for outcome in each.answers))
    rows = [
        Row(
            ", ".join(names),
            [
                Cell(each.component),
                *(_count(each.answers.get(outcome, 0)) for outcome in outcomes),
                _count(each.quarantined), _count(each.tokens_in), _count(each.tokens_out),
                Cell(number(each.cost) if each.cost else "0", key=repr(each.cost)),
                Cell(DASH) if each.seconds is None else Cell(f"{each.seconds:,.0f}", key=repr(each.seconds)),
            ],
        )
        for names, each in grouped.values()
    ]  # fmt: skip
    heads = [
        Head("Step"),
        *(Head(outcome.replace("_", " ").capitalize(), "answers") for outcome in outcomes),
        Head("Quarantined", "records"), Head("Tokens in"), Head("Tokens out"), Head("Cost", "as priced"),
        Head("Seconds"),
    ]  # fmt: skip
    caption = (
        "What asking a model took: answers by what they were worth, tokens, money and seconds. Rules ask no model. "
        "Conditions that share a corpus share its cost."
    )
    return Section(
        "costs", "Cost", findings.costs(target),
        tables=tables(Table("Cost of asking a model", caption, heads, rows, sortable=True)),
    )  # fmt: skip


def _count(value: int) -> Cell:
    return Cell(f"{value:,}", key=str(value))
