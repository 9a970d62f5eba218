"""Records a second and peak memory of generator, rendering and parser: `python benchmarks/records.py [COUNT]`."""

import datetime as dt
import itertools
import resource
import sys
import time
from collections.abc import Iterable

from leakscape.records.builtin import generate
from leakscape.records.record import parse, render

_DAY = dt.date(2026, 1, 1)
_WARM_UP = 2000


def _exhaust(work: Iterable[object]) -> tuple[float, float]:
    """Wall and processor seconds that it takes to walk through; they part where others share the core."""
    wall, processor = time.perf_counter(), time.process_time()
    for _ in work:
        pass
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    """Print one line a job, and the peak memory after each."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    _exhaust(generate(_WARM_UP, seed=1, stream="test", reference_date=_DAY))
    sample = list(itertools.islice(generate(_WARM_UP, seed=1, stream="test", reference_date=_DAY), _WARM_UP))
    texts = [render(record)[0] for record in sample]
    rounds = max(1, count // _WARM_UP)
    jobs: dict[str, Iterable[object]] = {
        "generate": generate(rounds * _WARM_UP, seed=0, stream="test", reference_date=_DAY),
        "render": (render(record) for _ in range(rounds) for record in sample),
        "parse": (parse(text) for _ in range(rounds) for text in texts),
    }
    for name, work in jobs.items():
        wall, processor = _exhaust(work)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        done = rounds * _WARM_UP
        print(f"{name:9} {done / processor:9,.0f} records/s of one core {done / wall:9,.0f} by the clock   {peak} MiB")


if __name__ == "__main__":
    main()
