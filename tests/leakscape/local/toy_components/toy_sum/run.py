import subprocess
import sys

from components.toy_sum.contract import ToySum

from leakscape import artifacts
from leakscape.errors import RecordError, TransientError
from leakscape.progress import say
from leakscape.provenance import provenance


def run(contract: ToySum) -> None:
    _end_badly(contract.mode)
    total = sum(
        row["number"]
        for path in (contract.numbers, *contract.more)
        for row in artifacts.load(path, schema="toy/numbers/1").rows("numbers.jsonl", dict)
    )
    with artifacts.create(contract.total, schema="toy/total/1", provenance=provenance(contract)) as folder:
        folder.write_json("total.json", {"total": total, "note": contract.note})
    contract.report.write_text(f"<p>{total}</p>", encoding="utf-8")


def _end_badly(mode: str) -> None:
    if mode == "input":
        raise RecordError("numbers.jsonl, line 2: no number.")
    if mode == "transient":
        raise TransientError("The toy service is busy.")
    if mode == "bug":
        raise ValueError("secret Mabsartinib")
    if mode == "wait":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        say(f"waiting for {child.pid}")
        child.wait()
