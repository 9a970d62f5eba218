"""What corpus-audit takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component


@component(name="corpus-audit", image="base")
class CorpusAudit:
    """Count what a rewritten or scrubbed corpus discloses of its people, beside what it shows of others by chance.

    No model is needed. Rare features of the people in train and in held-out (identifiers, rare problems and
    medications, runs of words, coined names) are looked for in the corpus. Hits on train are disclosures, hits on
    held-out are phantoms; an exact test says for each type whether there are more of the former.
    """

    original: Annotated[Path, In("corpus", "The records as they were before any defence.")]
    corpus: Annotated[Path, In("corpus", "The rewritten or scrubbed records to audit.")]
    held_out: Annotated[Path, In("population", "People of the same population whom the corpus never saw.")]
    canaries: Annotated[Path, In("canaries", "The canaries in `original`, and the names that were planted nowhere.")]
    run_words: Annotated[
        int, Param("Length in words of the runs that are looked for; a number counts as a word.", low=2, high=100)
    ] = 8
    rare_below: Annotated[
        int,
        Param(
            "An identifier, problem or medication counts if fewer people of train and held-out together carry it; 2 "
            "leaves what one person alone carries.",
            low=2,
        ),
    ] = 2
    disclosures: Annotated[
        Path, Out("disclosures", "Hits on train and on held-out by type of feature, with intervals and exact tests.")
    ]


CONTRACT = CorpusAudit
