"""The report: one page that needs nothing beside it."""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from leakscape import __version__
from leakscape.landscape import charts, words
from leakscape.landscape.schema import Condition, Difference, Evidence, Landscape, Target
from leakscape.scoring.metrics import METRICS, Metric

_LONG = 12  # values of a list that are shown one by one

_NOTES = {
    "verbatim_perplexity": "of the secret after its record",
    "semantic_perplexity": "of the secret after a question",
    "exposure_bits": "bits; 1.44 at chance",
    "rank_first_share": "share of canaries",
    "extrapolated_exposure_bits": "bits, by a fitted tail",
    "generation_probability": "chance that one sample repeats the secret",
    "log10_generation_probability": "of the same chance",
    "held_out_perplexity": "of unseen records",
    "medication_perplexity": "of their last medication",
    "unplanted_perplexity": "in place of the secret",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a sortable table: what is shown, and what it sorts by (empty sorts last)."""

    text: str
    note: str = ""
    second: str = ""
    key: str = ""
    sure: bool = False


def render(landscape: Landscape) -> str:
    """The page as HTML. Every text of the landscape is escaped; nothing is fetched."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("leakscape.landscape", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates = files("leakscape.landscape") / "templates"
    parts = [_target(number, target, landscape) for number, target in enumerate(landscape.targets)]
    for part in parts:
        # Our own pictures: matplotlib escapes the texts in them.
        part["charts"] = {name: Markup(text) for name, text in part["charts"].items()}  # noqa: S704
    return environment.get_template("report.html.j2").render(
        style=Markup((templates / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
        script=Markup((templates / "report.js").read_text(encoding="utf-8")),  # noqa: S704 - our own file
        title=str(landscape.plan.get("name") or "landscape"),
        description=str(landscape.plan.get("description") or ""),
        landscape=landscape,
        targets=parts,
        version=__version__,
    )


def _target(number: int, target: Target, landscape: Landscape) -> dict[str, Any]:
    shown = [METRICS[name] for name in METRICS if any(name in item.metrics for item in target.conditions)]
    return {
        "target": target,
        "id": f"target-{number}",
        "opening": words.opening(target, landscape.confidence),
        "charts": {
            "tradeoff": charts.tradeoff(target, f"tradeoff-{number}"),
            "leakage": charts.leakage(target, f"leakage-{number}"),
            "exposures": charts.exposures(target, f"exposures-{number}"),
            "losses": charts.losses(target, f"losses-{number}"),
        },
        "metrics": [(metric.title, _heading_note(metric, target)) for metric in shown],
        "table": [(item, [_figure(item, metric) for metric in shown], _ranks(item)) for item in target.conditions],
        "comparisons": [
            _comparison(target, reference, shown) for reference in _references(target) if len(target.conditions) > 1
        ],
        "multiplicities": _multiplicities(target),
        "unmeasured": _unmeasured(target),
        "made": [(item, _facts(item), [_evidence(part) for part in item.made.evidence]) for item in target.conditions],
    }


def _heading_note(metric: Metric, target: Target) -> str:
    good = f"{metric.better} is good" if metric.side != "reference" else "for reference"
    sizes = sorted({item.metrics[metric.name].n for item in target.conditions if metric.name in item.metrics})
    size = f"n\N{NO-BREAK SPACE}{sizes[0]}" if len(sizes) == 1 else f"n {sizes[0]} to {sizes[-1]}"
    return "; ".join(note for note in (_NOTES.get(metric.name, ""), good, size) if note)


def _figure(item: Condition, metric: Metric) -> Cell:
    figure = item.metrics.get(metric.name)
    if figure is None:
        return Cell(words.DASH, "not measured")
    return Cell(words.number(figure.value), words.span(figure), key=repr(figure.value))


def _ranks(item: Condition) -> list[Cell]:
    cells = []
    for side in ("privacy", "capability"):
        rank = item.ranks.get(side)
        cells.append(
            Cell(f"{rank.value:g}", f"[{rank.low:g}, {rank.high:g}]", key=repr(rank.value))
            if rank
            else Cell(words.DASH)
        )
    return cells


def _references(target: Target) -> list[str]:
    return list(dict.fromkeys(name for name in (target.untouched, target.direct) if name))


def _comparison(target: Target, reference: str, shown: list[Metric]) -> dict[str, Any]:
    rows = [
        (item, [_difference(item.differences.get(reference, {}).get(metric.name)) for metric in shown])
        for item in target.conditions
        if item.name != reference
    ]
    return {"reference": reference, "rows": rows}


def _difference(found: Difference | None) -> Cell:
    if found is None:
        return Cell(words.DASH)
    change = words.change(found)
    value, _, interval = change.partition(" ")
    p = words.p_value(found.p_holm)
    return Cell(value, interval, p, key=repr(found.value), sure=found.p_holm < words.SURE)


def _multiplicities(target: Target) -> list[dict[str, Any]]:
    """The figures behind the pictures of leakage, for those who read rather than look."""
    tables = []
    for name in ("verbatim_perplexity", "semantic_perplexity", "exposure_bits", "generation_probability"):
        have = [item for item in target.conditions if name in item.metrics]
        copies = sorted({int(key) for item in have for key in item.metrics[name].by_multiplicity})
        rows = []
        for item in have:
            parts = item.metrics[name].by_multiplicity
            found = [parts.get(str(key)) for key in copies]
            rows.append(
                (
                    item,
                    [Cell(words.number(part.value), words.span(part)) if part else Cell(words.DASH) for part in found],
                )
            )
        if copies:
            tables.append({"title": METRICS[name].title, "copies": copies, "rows": rows})
    return tables


def _unmeasured(target: Target) -> list[str]:
    """What has no figure, what was left out of one, and what was never run."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for item in target.conditions:
        for gap in item.unmeasured:
            title = METRICS[gap.metric].title if gap.metric in METRICS else gap.metric
            reasons.setdefault((title, gap.reason), []).append(item.name)
    everywhere = len(target.conditions)
    said = [
        f"{title} ({'all conditions' if len(names) == everywhere else ', '.join(names)}): {reason}."
        for (title, reason), names in reasons.items()
    ]
    for item in target.conditions:
        for probe, counts in item.probes.items():
            if counts.unscorable:
                ids = ", ".join(sorted(gap["id"] for gap in counts.unscorable)[:5])
                more = ", ..." if len(counts.unscorable) > 5 else ""  # noqa: PLR2004
                said.append(f"{item.name}, {probe}: {len(counts.unscorable)} without a score, left out ({ids}{more}).")
    said += [f"{name}: in the plan, but no measurement was given." for name in target.missing]
    return said


def _facts(item: Condition) -> list[tuple[str, str]]:
    made = item.made
    facts = [("Measurements", made.measurements), *(("Adapter", digest) for digest in made.adapters)]
    facts += [("Corpus", digest) for digest in made.corpora]
    if item.training_seconds is not None:
        facts.append(("Training", f"{item.training_seconds:,.0f} s"))
    if item.privacy:
        facts.append(("Privacy spent", _plain(item.privacy)))
    straddling = {probe: counts.straddling for probe, counts in item.probes.items() if counts.straddling}
    if straddling:
        facts.append(("Targets that begin within a token", _plain(straddling)))
    facts += [("Settings", _plain(made.settings)), ("Versions", _plain(made.versions))]
    return [*facts, ("Inputs", _plain(made.inputs))]


def _evidence(found: Evidence) -> tuple[str, list[tuple[str, str]]]:
    facts = [("Digest", found.digest), ("Arguments", _plain(found.arguments))]
    if found.summary:
        facts.append(("Summary", _plain(found.summary)))
    if found.seconds:
        facts.append(("Seconds", _plain({key: round(value, 1) for key, value in found.seconds.items()})))
    facts += [("Inputs", _plain(found.inputs)), ("Versions", _plain(found.versions))]
    return f"{found.kind} of {found.component or 'an unnamed component'}", facts


def _plain(values: dict[str, Any]) -> str:
    """A dictionary on one line, nested ones as JSON."""
    if not values:
        return words.DASH
    return " · ".join(f"{key} {_short(value)}" for key, value in values.items())


def _short(value: Any) -> str:  # noqa: ANN401 - whatever a manifest holds
    """A value as JSON; of a long list its length and its ends."""
    if isinstance(value, list) and len(value) > _LONG:
        return f"{len(value)} values from {_short(value[0])} to {_short(value[-1])}"
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
