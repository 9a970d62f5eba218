"""What landscape takes and gives."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from leakscape.contract import In, Out, Param, component


@component(name="landscape", image="base")
class Landscape:
    """Put the measurements of all conditions together, with intervals, differences and ranks, in one page.

    Measurements of one target must come from the same model, prompts, canaries and held-out records; what does not
    compare is refused, unless forced.
    """

    measurements: Annotated[
        tuple[Path, ...], In("measurements", "Raw scores, one artifact for each target and condition.", many=True)
    ]
    evidence: Annotated[
        tuple[Path, ...],
        In(
            "evidence",
            "Training logs, masks, ledgers, judgements and disclosures, matched to conditions by the digests in their "
            "manifests.",
            many=True,
        ),
    ]
    plan: Annotated[
        dict[str, Any],
        Param("Name, description and seed of the plan, and its targets and conditions in the order to show them."),
    ] = field(default_factory=dict)
    resamples: Annotated[int, Param("Draws of the bootstrap.", low=100, high=1_000_000)] = 2000
    confidence: Annotated[float, Param("Level of the intervals.", low=0.5, high=0.999)] = 0.95
    seed: Annotated[int, Param("Steers the bootstrap and the tests.", low=0)] = 0
    delta: Annotated[
        float,
        Param(
            "The delta that a lower bound on epsilon is held against where the training claims none.", low=0.0, high=1.0
        ),
    ] = 1e-5
    force: Annotated[bool, Param("Put together what does not compare too; the page then says what it is.")] = False
    gate: Annotated[list[Any], Param("The rules that the landscape is held against, as a plan states them.")] = field(
        default_factory=list
    )
    history: Annotated[
        str,
        Param("Folder or s3://bucket/prefix of the history of audits, to compare with the last one; empty for none."),
    ] = ""
    landscape: Annotated[Path, Out("landscape", "All figures as JSON and as CSV tables.")]
    report: Annotated[Path, Out("html", "A page that shows them and needs nothing beside it.")]
    verdict: Annotated[Path, Out("verdict", "The landscape held against the gate and the last audit.")]


CONTRACT = Landscape
