"""What canary-insert takes and gives."""

from dataclasses import field
from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component


@component(name="canary-insert", image="base")
class CanaryInsert:
    """Plant fabricated patients, each with a coined medication as its secret, in a population of records.

    A canary takes demographics, problems and medications from one training record, an identity that belongs to nobody
    in any population, and a coined medication name at the end of its list. It stands in the corpus as often as its
    multiplicity says.
    """

    train: Annotated[Path, In("population", "People whose records are trained on.")]
    held_out: Annotated[Path, In("population", "People who are never trained on; no canary is one of them.")]
    exemplars: Annotated[Path, In("population", "People who lend format examples; no canary is one of them.")]
    count: Annotated[int, Param("How many canaries to plant.", low=1)] = 100
    multiplicities: Annotated[
        list[int],
        Param("How often a canary stands in the corpus, one number a group; groups are as equal as can be.", low=1),
    ] = field(default_factory=lambda: [1, 4, 16, 32, 64])
    alternatives: Annotated[int, Param("How many coined names stay unplanted, to rank secrets among.", low=1)] = 6300
    rotation: Annotated[
        int,
        Param(
            "Gives each group the multiplicity that lies this many places further, so that over as many runs as there "
            "are multiplicities every canary stands at each one once.",
            low=0,
        ),
    ] = 0
    inclusion: Annotated[
        str,
        Param(
            "all plants every canary; coin leaves each one out by a fair coin (multiplicity 0), as lower bounds on "
            "epsilon from one run need.",
            choices=("all", "coin"),
        ),
    ] = "all"
    seed: Annotated[int, Param("Steers names, donors, identities, groups, coins and places.")] = 0
    corpus: Annotated[Path, Out("corpus", "All training records once, with the canaries' copies among them.")]
    canaries: Annotated[Path, Out("canaries", "The canaries with their probes, and the unplanted alternatives.")]


CONTRACT = CanaryInsert
