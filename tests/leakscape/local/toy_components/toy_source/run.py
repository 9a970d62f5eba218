from pathlib import Path

from components.toy_source.contract import ToySource

from leakscape import artifacts
from leakscape.progress import say
from leakscape.provenance import provenance


def run(contract: ToySource) -> None:
    start = int(Path(contract.path).read_text(encoding="utf-8")) if contract.path else 0
    say("writing numbers")
    with artifacts.create(contract.numbers, schema="toy/numbers/1", provenance=provenance(contract)) as folder:
        folder.write_rows("numbers.jsonl", ({"number": start + number} for number in range(contract.count)))
