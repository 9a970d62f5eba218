"""Fails a run whose verdict is against the model."""

from components.enforce.contract import Enforce
from leakscape.errors import GateError
from leakscape.gate.ways_out import summary
from leakscape.landscape import verdict
from leakscape.progress import say


def run(contract: Enforce) -> None:
    """Say how the gate ended.

    Raises:
        ArtifactError: the verdict is damaged.
        GateError: a rule failed, or what it asks for was not measured.
    """
    found = verdict.read(contract.verdict)
    for line in summary.text(found).splitlines()[1:]:
        say(line.strip())
    if not found.passed:
        raise GateError(summary.headline(found))
    say(summary.headline(found))
