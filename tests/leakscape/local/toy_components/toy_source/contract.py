from pathlib import Path
from typing import Annotated

from leakscape.contract import Out, Param, component


@component(name="toy-source", image="base")
class ToySource:
    """Write numbers."""

    count: Annotated[int, Param("How many numbers.", low=0)] = 3
    path: Annotated[str, Param("A file with a number to start from; '' starts at 0.")] = ""
    numbers: Annotated[Path, Out("corpus", "The numbers.")]


CONTRACT = ToySource
