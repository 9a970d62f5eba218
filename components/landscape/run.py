"""Reads measurements and evidence, writes the landscape and its page."""

from components.landscape.contract import Landscape
from leakscape import artifacts, schemas
from leakscape.landscape import report, tables
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import FILE
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.progress import say
from leakscape.provenance import provenance
from leakscape.settings import settings_of

LIBRARIES = ("adjusttext", "jinja2", "matplotlib", "numpy", "scipy")


def run(contract: Landscape) -> None:
    """Aggregate as the contract says.

    Raises:
        ArtifactError: an artifact is damaged, or two measurements do not compare and this is not forced.
        IntegrityError: an id stands twice in a measurement.
    """
    settings = settings_of(contract, Settings)
    measured = read_measurements(contract.measurements, force=contract.force)
    landscape = aggregate(measured, read_evidence(contract.evidence), contract.plan, settings)
    page = report.render(landscape)
    with artifacts.create(
        contract.landscape, schema=schemas.LANDSCAPE, provenance=provenance(contract, libraries=LIBRARIES)
    ) as folder:
        folder.write_json(FILE, landscape)
        tables.write(landscape, folder.path)
    artifacts.write_file(contract.report, page)
    forced = sum(len(target.departures) for target in landscape.targets) if contract.force else 0
    say(f"{len(measured)} conditions compared" + (f"; {forced} departures, listed in the page" if forced else ""))
