"""A finished audit for the pages that read one: made-up measurements in a moment instead of minutes of training."""

import shutil
from pathlib import Path

import audit_fakes

from components import contracts
from components.landscape.contract import Landscape
from components.landscape.run import run
from pipelines.audit import RESULTS, graph
from pipelines.plan import load


def give(plan: Path) -> Path:
    """Leave beside a plan what `leakscape audit PLAN` leaves: `audits/NAME/`, its results and landscape.

    The measurements are those of `audit_fakes` for the plan's conditions; the plan's own gate judges them.
    """
    found = load(str(plan))
    parameters = graph(found, contracts()).step("landscape").parameters
    audit = plan.parent / "audits" / found.name
    out = audit / "artifacts" / "landscape"
    names = [condition.name for condition in found.conditions]
    made = Landscape(
        measurements=tuple(audit_fakes.laptop(audit / "artifacts" / "measured", names)),
        evidence=(),
        landscape=out / "landscape",
        report=out / "report",
        verdict=out / "verdict",
        **{**parameters, "resamples": 200},
    )
    run(made)
    for name, (output, inside) in RESULTS.items():
        shutil.copy(out / output / inside, audit / name)
    return audit
