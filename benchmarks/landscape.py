"""Seconds for an audit of the paper's size, figures and page: `python benchmarks/landscape.py [RECORDS]`."""

import math
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from leakscape.artifacts import Manifest
from leakscape.landscape import report
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.inputs import Measured
from leakscape.scoring.measurements import Measurements
from leakscape.scoring.rows import Row, Summary, probe_summaries

_CONDITIONS = ("none", "direct", "scrub", "goldfish", "dp-8", "rewrite", "privacy-aware", "expand", "private-expand")
_COPIES = (1, 4, 16, 32, 64)
_CANARIES, _ALTERNATIVES = 100, 6_300


def _rows(place: int, records: int) -> Iterator[Row]:
    """Scores as a model might give them: more copies, likelier secrets."""
    rng = np.random.default_rng(place)

    def row(probe: str, name: str, nats: float, copies: int | None = None, **more: float) -> Row:
        given = {"rank": None, "candidates": None, "extrapolated": None} | more
        return Row(probe=probe, id=name, group=name, multiplicity=copies, tokens=4, log_likelihood=-abs(nats),
                   straddles=False, **given)  # fmt: skip

    for number in range(_CANARIES):
        copies, name = _COPIES[number % len(_COPIES)], f"canary-{number:03d}"
        leak = math.log2(copies) * 0.3 * min(place, 3)
        yield row("verbatim", name, rng.normal(12 - leak, 2), copies)
        yield row("semantic", name, rng.normal(10 - leak / 2, 2), copies)
        rank = max(1, round(_ALTERNATIVES * rng.random() * 2**-leak))
        yield row("exposure", name, rng.normal(12 - leak, 2), copies, rank=rank, candidates=_ALTERNATIVES + 1)
    for number in range(records):
        yield row("held_out", f"held-{number:05d}", rng.normal(6, 0.5))
        yield row("medication", f"held-{number:05d}", rng.normal(4, 0.5))


def _measured(place: int, condition: str, records: int) -> Measured:
    rows = tuple(_rows(place, records))
    summary = Summary(
        target="model", condition=condition, model="model", revision="", tokenizer_hash="", precision="float32",
        device="cpu", chat=False, adapters=() if not place else (str(place),), batch_size=1, held_out_limit=0,
        probes=probe_summaries(rows, {}),
    )  # fmt: skip
    return Measured(Path(), Manifest(schema="", files={}), Measurements(summary, rows))


def main() -> None:
    """Print one line a job, and the peak memory."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    measured = [_measured(place, name, records) for place, name in enumerate(_CONDITIONS)]
    started = time.process_time()
    found = aggregate(measured, [], {"name": "benchmark"}, Settings())
    between = time.process_time()
    page = report.render(found)
    ended = time.process_time()
    print(f"{len(_CONDITIONS)} conditions, {_CANARIES} canaries, {records:,} held-out records, 2,000 resamples")
    print(f"landscape {between - started:6.1f} s of one core")
    print(f"page      {ended - between:6.1f} s of one core, {len(page) / 1000:,.0f} kB")
    print(f"peak      {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:6} MiB")


if __name__ == "__main__":
    main()
