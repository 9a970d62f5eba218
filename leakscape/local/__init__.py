"""Runs a pipeline on this machine: the function that compiles for Kubeflow, each step a subprocess.

outcome = run(pipeline, out=Path("audits/laptop"), store=Path("audits/.store"))
report = outcome.artifact("landscape", "report")
"""

from leakscape.local.audit import Outcome, run
from leakscape.local.steps import State, Step

__all__ = ["Outcome", "State", "Step", "run"]
