"""Shares of extracted canaries by hand."""

import pytest

from leakscape.scoring.attack_rows import ExtractionRow
from leakscape.statistics.extraction import Share, extraction_figures


def rows(canary: str, multiplicity: int, *hits: str) -> list[ExtractionRow]:
    """Continuations of one canary: `e` exact, `n` near, `-` neither; the first one greedy."""
    return [
        ExtractionRow(
            id=canary,
            multiplicity=multiplicity,
            number=number,
            tokens=3,
            exact=hit == "e",
            near=hit in "en",
            similarity={"e": 1.0, "n": 0.95, "-": 0.1}[hit],
        )
        for number, hit in enumerate(hits)
    ]


def test_a_canary_counts_once_however_many_samples_hit():
    found = {
        figures.name: figures
        for figures in extraction_figures(
            [
                *rows("c-1", 4, "e", "-", "-"),
                *rows("c-2", 4, "n", "e", "e"),
                *rows("c-3", 1, "-", "n", "-"),
                *rows("c-4", 0, "-", "-", "-"),
            ]
        )
    }
    counts = {name: (figures.planted.part, figures.planted.whole) for name, figures in found.items()}
    assert counts == {
        "greedy_exact": (1, 3),
        "greedy_near": (2, 3),
        "sampled_exact": (1, 3),
        "sampled_near": (2, 3),
    }
    assert {times: share.part for times, share in found["greedy_near"].by_multiplicity.items()} == {1: 0, 4: 2}
    assert (found["sampled_near"].left_out.part, found["sampled_near"].left_out.whole) == (0, 1)


def test_intervals_are_exact():
    # Clopper-Pearson: none of 20 is at most .168; both ends for 86 of 100 are .776 and .921.
    none = extraction_figures([row for number in range(20) for row in rows(f"c-{number}", 1, "-")])[0].planted
    assert none == Share(0.0, 0.0, pytest.approx(0.168, abs=5e-4), 0, 20)
    most = [row for number in range(100) for row in rows(f"c-{number}", 1, "e" if number < 86 else "-")]
    found = extraction_figures(most)[0].planted
    assert (found.low, found.high) == (pytest.approx(0.776, abs=5e-4), pytest.approx(0.921, abs=5e-4))


def test_what_is_not_there_has_no_figure():
    assert extraction_figures([]) == []
    (greedy, *_) = extraction_figures(rows("c-1", 0, "-"))
    assert (greedy.planted, greedy.by_multiplicity) == (None, {})
    assert greedy.left_out.whole == 1
