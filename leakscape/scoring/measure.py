"""Probes to rows: format for the model, locate, score, and account for every id."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from leakscape.errors import IntegrityError
from leakscape.models.formatting import FormattedText, probe_text
from leakscape.progress import track
from leakscape.scoring.candidates import score_candidates
from leakscape.scoring.engine import score
from leakscape.scoring.exposure import extrapolated_exposure, mean_rank
from leakscape.scoring.probes import Probe, canary_probes
from leakscape.scoring.rows import PROBES, Row, Unscorable
from leakscape.scoring.spans import Item, item

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leakscape.canaries.canary import Canary
    from leakscape.models.load import LoadedModel
    from leakscape.scoring.engine import Score

_WINDOW = 1024  # probes that are in memory at once


@dataclass
class Tally:
    """What came of probes so far.

    Args:
        rows: what was scored.
        unscorable: what was not, by probe.
        flags: why exposure could not be extrapolated or was clipped, and how often.
        shared: the fewest and the most prefix tokens that a canary's candidates shared.
    """

    rows: list[Row] = field(default_factory=list)
    unscorable: dict[str, list[Unscorable]] = field(default_factory=lambda: defaultdict(list))
    flags: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    shared: list[int] = field(default_factory=list)

    def leave_out(self, probe: str, row_id: str, reason: str) -> None:
        """Count what can't be scored."""
        self.unscorable[probe].append(Unscorable(row_id, reason))

    def ordered(self) -> tuple[Row, ...]:
        """The rows by probe, and within a probe as they came."""
        return tuple(sorted(self.rows, key=lambda row: PROBES.index(row.probe)))

    def check(self, expected: Iterable[tuple[str, str]]) -> None:
        """Hold the ids that came out against those that went in, (probe, id).

        Raises:
            IntegrityError: one is lost, new or doubled.
        """
        came = [(row.probe, row.id) for row in self.rows]
        came += [(probe, left_out.id) for probe, several in self.unscorable.items() for left_out in several]
        went = list(expected)
        if sorted(came) != sorted(went):
            probe, row_id = next(iter(set(came) ^ set(went)), ("a probe", "an id"))
            raise IntegrityError(f"{row_id} was lost or doubled while {probe} was scored; nothing was written.")


def measure(tally: Tally, loaded: LoadedModel, probes: Iterable[Probe], *, batch_size: int, what: str) -> None:
    """Score probes, a window of them in memory at a time.

    Args:
        tally: takes the rows, and what can't be scored.
        loaded: the model.
        probes: to score.
        batch_size: texts in one forward pass, at most.
        what: two or three words for the progress line.

    Raises:
        InputError: a text holds the model's BOS token, or the device's memory is too small.
        LeakscapeError: the model gives no finite probability.
    """
    remaining = iter(probes)
    while window := list(islice(remaining, _WINDOW)):
        found = [(probe, _item(loaded, probe)) for probe in window]
        items = [located for _, located in found if isinstance(located, Item)]
        scores = iter(score(loaded.model, items, batch_size=batch_size, what=what))
        for probe, located in found:
            if isinstance(located, Item):
                tally.rows.append(_row(probe, located, next(scores)))
            else:
                tally.leave_out(probe.probe, probe.id, located)


def measure_exposure(
    tally: Tally, loaded: LoadedModel, canaries: Sequence[Canary], names: Sequence[str], *, batch_size: int
) -> None:
    """Rank each canary's secret among unplanted names by log-likelihood after its prefix.

    Args:
        tally: takes a row a canary.
        loaded: the model.
        canaries: whose secrets are ranked.
        names: planted nowhere.
        batch_size: candidates in one forward pass, at most.

    Raises:
        InputError: a text holds the model's BOS token, or the device's memory is too small.
        LeakscapeError: the model gives no finite probability.
    """
    for canary in track(canaries, total=len(canaries), what="ranking secrets"):
        items = _candidates(loaded, canary, names)
        if isinstance(items, str):
            tally.leave_out("exposure", canary.id, items)
            continue
        scored = score_candidates(loaded.model, items, batch_size=batch_size)
        tally.shared.append(scored.shared)
        secret, *others = (each.log_likelihood for each in scored.scores)
        fitted = extrapolated_exposure(secret, others)
        if fitted.flag:
            tally.flags[fitted.flag] += 1
        row = replace(_row(canary_probes(canary)[0], items[0], scored.scores[0]), probe="exposure")
        rank = mean_rank(secret, others)
        tally.rows.append(replace(row, rank=rank, candidates=len(items), extrapolated=fitted.bits))


def token_limit(loaded: LoadedModel) -> int:
    """The most tokens that the model was made to read; 0 where its configuration names none."""
    limit = getattr(loaded.model.config.get_text_config(), "max_position_embeddings", None)
    return int(limit or 0)


def _candidates(loaded: LoadedModel, canary: Canary, names: Sequence[str]) -> list[Item] | str:
    """The secret, then the names, each after the canary's prefix; or why they can't be scored."""
    limit = token_limit(loaded)
    formatted = probe_text(loaded, canary.prefix, canary.secret)
    before = formatted.text[: formatted.start]
    items = []
    for name in (canary.secret, *names):
        text = FormattedText(before + name, len(before), len(before) + len(name))
        located = item(loaded, text, canary.id, limit=limit)
        if isinstance(located, str):
            return f"a candidate can't be scored: {located}"
        items.append(located)
    return items


def _item(loaded: LoadedModel, probe: Probe) -> Item | str:
    text = probe_text(loaded, probe.prefix, probe.target, question=probe.question)
    return item(loaded, text, probe.id, limit=token_limit(loaded))


def _row(probe: Probe, located: Item, scored: Score) -> Row:
    return Row(
        probe=probe.probe,
        id=probe.id,
        group=probe.group,
        multiplicity=probe.multiplicity,
        tokens=scored.tokens,
        log_likelihood=scored.log_likelihood,
        straddles=located.straddles,
    )
