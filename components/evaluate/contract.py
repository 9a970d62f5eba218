"""What evaluate takes and gives."""

from dataclasses import field
from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component
from leakscape.models import parameters as models


@component(name="evaluate", image="evaluate")
class Evaluate:
    """Score what a model makes of the canaries' secrets and of unseen records, and attack it.

    Every score is kept, one row for each canary and record; means, intervals and ranks are made from them later.
    Membership attacks ask which records were trained on; extraction lets the model go on where a secret begins. The
    untouched base model is measured by giving no adapter.
    """

    canaries: Annotated[Path, In("canaries", "Canaries to probe, with the names that were left unplanted.")]
    held_out: Annotated[Path, In("population", "Records that the model was never trained on.")]
    original: Annotated[
        Path,
        In(
            "corpus",
            "The corpus with the canaries as it was before any defence; membership attacks draw training records "
            "from it.",
        ),
    ]
    adapters: Annotated[
        tuple[Path, ...],
        In("adapter", "Adapters to apply, the first one first; none for the untouched model.", many=True),
    ]
    target: Annotated[str, Param("Name of the target model in reports.", required=True)]
    condition: Annotated[str, Param("Name of the condition in reports.", required=True)]
    model: models.Model
    revision: models.Revision = ""
    precision: Annotated[
        str,
        Param(
            "Precision of the weights; auto takes bfloat16 where the device computes in it and float32 elsewhere.",
            choices=("auto", "float32", "bfloat16"),
        ),
    ] = "auto"
    device: Annotated[str, Param("Where to run: auto, cpu, cuda or cuda:1.")] = "auto"
    probes: Annotated[
        list[str],
        Param("What to measure: any of verbatim, semantic, held_out, medication, exposure and unplanted."),
    ] = field(default_factory=lambda: ["verbatim", "semantic", "held_out", "medication", "exposure", "unplanted"])
    alternatives: Annotated[
        int,
        Param(
            "How many unplanted names each secret is ranked among for exposure: -1 for all there are, 0 to leave "
            "exposure out.",
            low=-1,
        ),
    ] = -1
    unplanted: Annotated[
        int,
        Param(
            "How many unplanted names are scored after each canary's record, to read the secrets' perplexity by.", low=1
        ),
    ] = 4
    held_out_limit: Annotated[int, Param("How many held-out records to score, from the first; 0 for all.", low=0)] = 0
    attacks: Annotated[
        list[str],
        Param("Membership attacks to run: any of loss, zlib, min_k, min_k_plus_plus and reference (the adapter off)."),
    ] = field(default_factory=lambda: ["loss", "zlib", "min_k", "min_k_plus_plus", "reference"])
    membership_records: Annotated[
        int,
        Param(
            "How many training records, and as many held-out ones, membership attacks try beside all canaries; 0 to "
            "leave membership out.",
            low=0,
        ),
    ] = 200
    extraction_samples: Annotated[
        int,
        Param(
            "How many continuations are drawn where each canary's secret begins, besides the likeliest one; 0 to "
            "leave extraction out.",
            low=0,
        ),
    ] = 8
    harness_tasks: Annotated[
        list[str],
        Param(
            "Benchmarks of general ability: names of lm-evaluation-harness's tasks, and paths (with a /) of task files "
            "or of folders with them; their data are fetched or read first."
        ),
    ] = field(default_factory=list)
    harness_limit: Annotated[int, Param("Documents of each benchmark, from the first; 0 for all.", low=0)] = 0
    harness_fewshot: Annotated[
        int, Param("Solved examples before each document of a benchmark; -1 for what the task says.", low=-1)
    ] = -1
    batch_size: Annotated[int, Param("Texts in one forward pass; lower it if memory runs out.", low=1)] = 16
    candidate_batch_size: Annotated[
        int,
        Param(
            "Names or continuations in one forward pass when secrets are ranked or extracted; lower it if memory runs "
            "out.",
            low=1,
        ),
    ] = 128
    trust_remote_code: models.TrustRemoteCode = False
    seed: Annotated[int, Param("Draws the unplanted names, the records that are attacked and the continuations.")] = 0
    measurements: Annotated[Path, Out("measurements", "Raw scores, one row for each canary and record.")]
    roc: Annotated[
        Path,
        Out("classification_metrics", "How well a membership attack tells training records from held-out ones."),
    ]


CONTRACT = Evaluate
