"""The report: one page that needs nothing beside it."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from leakscape import __version__
from leakscape.landscape.catalogue import CATALOGUE, Entry
from leakscape.landscape.report import attacks, corpora, figures, gate, pictures
from leakscape.landscape.report.made import chains, unmeasured
from leakscape.landscape.report.opening import opening
from leakscape.landscape.report.parts import Section
from leakscape.landscape.schema import Landscape, Target
from leakscape.landscape.svg import SERIES
from leakscape.landscape.verdict import Verdict


def render(landscape: Landscape, verdict: Verdict | None = None) -> str:
    """The page as HTML, with its gate and its past if there is a verdict. Every text is escaped; nothing is fetched."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("leakscape.landscape", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Pictures are our own, and matplotlib escapes the texts in them; style and script are our own files.
    environment.filters["ours"] = Markup
    templates = files("leakscape.landscape") / "templates"
    return environment.get_template("report.html.j2").render(
        style=(templates / "report.css").read_text(encoding="utf-8"),
        script=(templates / "report.js").read_text(encoding="utf-8"),
        title=str(landscape.plan.get("name") or "landscape"),
        description=str(landscape.plan.get("description") or ""),
        landscape=landscape,
        targets=[_target(number, target, landscape, verdict) for number, target in enumerate(landscape.targets)],
        colours=len(SERIES),
        version=__version__,
    )


def _target(number: int, target: Target, landscape: Landscape, verdict: Verdict | None) -> dict[str, Any]:
    entries, level = {**CATALOGUE, **landscape.catalogue}, f"{landscape.confidence * 100:g} %"
    return {
        "target": target,
        "id": f"target-{number}",
        "opening": opening(target, landscape.confidence),
        "sections": [
            section
            for section in [
                gate.gate(target, verdict),
                *_sections(target, entries, str(number), level),
                gate.since_last(target, verdict, str(number), level),
            ]
            if not section.empty
        ],
        "unmeasured": unmeasured(target, landscape),
        "chains": chains(target),
    }


def _sections(target: Target, entries: Mapping[str, Entry], name: str, level: str) -> list[Section]:
    """In the page's order: what was found, what an adversary gets, what it rests on, and every figure."""
    return [
        pictures.tradeoff(target, name, level),
        pictures.leakage(target, entries, name, level),
        pictures.exposures(target, name),
        attacks.extraction(target, name, level),
        attacks.membership(target, name, level),
        attacks.budget(target, name),
        pictures.radar(target, entries, name),
        pictures.correlations(target, entries, name, level),
        corpora.judged(target, name, level),
        corpora.disclosed(target, name),
        corpora.costs(target),
        figures.all_metrics(target, entries, level),
        figures.differences(target, entries),
        pictures.training(target, name),
    ]
