"""What enforce takes."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, component


@component(name="enforce", image="base")
class Enforce:
    """Fail, with exit code 3, if the gate of the plan did not pass.

    It writes nothing: whatever an audit has to tell is written by the steps before it.
    """

    verdict: Annotated[Path, In("verdict", "The verdict on a landscape.")]
    published: Annotated[
        Path, In("published", "What publish wrote: so that nothing is left to write when a run fails.")
    ]


CONTRACT = Enforce
