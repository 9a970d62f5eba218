"""Names ranked a second, with one pass over the prefix or one a name: `python benchmarks/exposure.py [NAMES]`."""

import datetime as dt
import sys
import time

from leakscape.canaries.names import coin
from leakscape.models.formatting import probe_text
from leakscape.models.load import TINY, load_model
from leakscape.records.builtin import generate
from leakscape.records.record import render
from leakscape.scoring.candidates import score_candidates
from leakscape.scoring.engine import score
from leakscape.scoring.spans import Item, item

_DAY = dt.date(2026, 1, 1)
_BATCH = 128


def _items(count: int) -> list[Item]:
    """The same record with so many different last words."""
    loaded = load_model(TINY, device="cpu")
    record = next(iter(generate(1, seed=0, stream="test", reference_date=_DAY)))
    prefix = f"{render(record)[0].rstrip()}, "
    names = coin(count, seed=0)
    found = [item(loaded, probe_text(loaded, prefix, name), str(number)) for number, name in enumerate(names)]
    return [each for each in found if isinstance(each, Item)]


def main() -> None:
    """Print one line a way, and how far the two differ."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    model, items = load_model(TINY, device="cpu").model, _items(count)
    started = time.perf_counter()
    shared = score_candidates(model, items, batch_size=_BATCH)
    between = time.perf_counter()
    alone = score(model, items, batch_size=_BATCH)
    ended = time.perf_counter()
    tokens = sum(len(each.ids) for each in items)
    print(f"{len(items)} names after {shared.shared} shared tokens; {tokens:,} tokens in full")
    print(f"one pass over the prefix  {len(items) / (between - started):9,.0f} names/s")
    print(f"a pass for each name      {len(items) / (ended - between):9,.0f} names/s")
    apart = max(abs(a.log_likelihood - b.log_likelihood) for a, b in zip(shared.scores, alone, strict=True))
    print(f"farthest apart            {apart:9.1e} nats")


if __name__ == "__main__":
    main()
