"""Looks for what an audit needs."""

import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from components.preflight.contract import Preflight
from leakscape import artifacts
from leakscape.preflight import checks
from leakscape.preflight.findings import Finding, judge, look, markdown
from leakscape.preflight.quota import quota
from leakscape.progress import say


def run(contract: Preflight) -> None:
    """Look at everything, write what was found, then pass or fail.

    Raises:
        InputError: something is missing; the message names all of it.
        TransientError: nothing is missing, but a service is away.
    """
    findings = list(_findings(contract))
    artifacts.write_file(contract.report, markdown(findings))
    judge(findings)
    say(f"{len(findings)} things looked at, all there")


def _findings(contract: Preflight) -> Iterator[Finding]:
    yield look("version", "leakscape", partial(checks.version, contract.version))
    for name in contract.variables:
        yield look("secret", name, partial(checks.secret, name, os.environ))
    for name in contract.models:
        yield look("model", name, partial(checks.model, name, os.environ, files_alone=contract.trust_remote_code))
    for name in contract.places:
        yield look("place", name, partial(checks.place, name))
    for name in contract.sources:
        yield look("source", name, partial(checks.source, name))
    folder = Path(tempfile.gettempdir())
    yield look("disk", str(folder), partial(checks.disk, folder, contract.disk))
    if contract.accelerators:
        needed = contract.accelerators, contract.accelerator_memory
        yield look("accelerator", contract.accelerator, partial(checks.accelerators, *needed))
        yield quota(contract.accelerator, contract.accelerators, os.environ)
