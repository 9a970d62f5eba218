"""What rewrite-join takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component
from leakscape.rewriting import parameters as rewriting


@component(name="rewrite-join", image="base")
class RewriteJoin:
    """Join a corpus that was rewritten in parts, to what one step would have made, and lose none."""

    corpus: Annotated[Path, In("corpus", "The records before they were rewritten.")]
    parts: Annotated[tuple[Path, ...], In("corpus", "The rewritten parts, in their order.", many=True)]
    ledgers: Annotated[tuple[Path, ...], In("ledger", "The ledger of each part, in the same order.", many=True)]
    rewritten: Annotated[Path, Out("corpus", "All rewritten records, under the ids of their sources.")]
    ledger: Annotated[
        Path, Out("ledger", "Every answer: outcome, prompt hash, tokens, cost; and what was quarantined.")
    ]

    copies: Annotated[int, Param("Independent rewrites of each record.", low=1, high=64)] = 1
    shards: Annotated[int, Param("How many parts there are.", low=1, high=256)] = 1
    max_quarantined: rewriting.MaxQuarantined = 0.01


CONTRACT = RewriteJoin
