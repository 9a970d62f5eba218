from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component


@component(name="toy-sum", image="base")
class ToySum:
    """Add numbers up."""

    numbers: Annotated[Path, In("corpus", "The numbers to add.")]
    more: Annotated[tuple[Path, ...], In("corpus", "Further numbers.", many=True)]
    mode: Annotated[str, Param("How to end.", choices=("well", "input", "transient", "bug", "wait"))] = "well"
    note: Annotated[str, Param("Anything.")] = ""
    total: Annotated[Path, Out("total", "Their sum.")]
    report: Annotated[Path, Out("html", "Their sum as a page.")]


CONTRACT = ToySum
