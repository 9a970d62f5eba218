"""Reads measurements and evidence, writes the landscape and its page."""

from components.landscape.contract import Landscape
from leakscape import artifacts, schemas
from leakscape.gate import history, judge
from leakscape.gate.history import Entry
from leakscape.gate.rules import read_rules
from leakscape.landscape import report, tables, verdict
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import FILE
from leakscape.landscape.schema import Landscape as Found
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.settings import settings_of
from leakscape.storage import open_place

LIBRARIES = ("adjusttext", "jinja2", "matplotlib", "numpy", "scipy")


def run(contract: Landscape) -> None:
    """Aggregate as the contract says.

    Raises:
        ArtifactError: an artifact is damaged, or two measurements do not compare and this is not forced.
        IntegrityError: an id stands twice in a measurement.
    """
    settings = settings_of(contract, Settings)
    measured = read_measurements(contract.measurements, force=contract.force)
    rules = read_rules(contract.gate)
    landscape = aggregate(measured, read_evidence(contract.evidence), contract.plan, settings)
    earlier = _earlier(contract, landscape)
    made = provenance(contract, libraries=LIBRARIES)
    with artifacts.create(contract.landscape, schema=schemas.LANDSCAPE, provenance=made) as folder:
        folder.write_json(FILE, landscape)
        tables.write(landscape, folder.path)
    digest = artifacts.read_manifest(contract.landscape).digest
    found = judge.verdict(landscape, measured, digest=digest, rules=rules, earlier=earlier, settings=settings)
    with artifacts.create(contract.verdict, schema=schemas.VERDICT, provenance=made) as folder:
        folder.write_json(verdict.FILE, found)
        folder.write_rows(verdict.ENTRIES, judge.entries(landscape, measured, found))
    artifacts.write_file(contract.report, report.render(landscape, found))
    forced = sum(len(target.departures) for target in landscape.targets) if contract.force else 0
    say(f"{len(measured)} conditions compared" + (f"; {forced} departures, listed in the page" if forced else ""))


def _earlier(contract: Landscape, landscape: Found) -> dict[str, list[Entry]]:
    if not contract.history:
        return {}
    with open_place(contract.history) as place:
        return {
            target.name: history.entries(place, judge.plan_name(landscape), target.name) for target in landscape.targets
        }
