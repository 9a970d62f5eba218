"""What finish takes and gives."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from leakscape.contract import Out, Param, component


@component(name="finish", image="base")
class Finish:
    """Say how a run ended, and clear away what killed steps left behind, whatever happened."""

    plan: Annotated[str, Param("The plan's name.")] = ""
    status: Annotated[
        dict[str, Any], Param("How the run ended, as Kubeflow tells a task that ends it.", final_status=True)
    ] = field(default_factory=dict)
    places: Annotated[list[str], Param("Places in which uploads that were begun more than a day ago are given up.")] = (
        field(default_factory=list)
    )
    outcome: Annotated[Path, Out("markdown", "How the run ended, and what was cleared away.")]


CONTRACT = Finish
