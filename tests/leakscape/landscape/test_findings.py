"""The headings say what their section shows, and no more."""

from dataclasses import replace

import landscape_made as made
import pytest

from leakscape.landscape.catalogue import CATALOGUE
from leakscape.landscape.report import findings
from leakscape.landscape.schema import Front, Target


@pytest.fixture(scope="module")
def whole() -> Target:
    return made.whole()


def test_headings_of_the_whole_landscape(whole: Target):
    assert findings.tradeoff(whole) == (
        "scrub and rewrite are beaten on both sides; the others give up one side for the other"
    )
    assert findings.leakage(whole) == (
        "Secrets leak under direct, scrub, goldfish and rewrite; no leak can be told from chance under dp-8 and "
        "private-rewrite"
    )
    assert findings.extraction(whole) == (
        "Under direct 9 of 20 secrets are told to the letter; none under none and private-rewrite"
    )
    assert findings.budget(whole) == "The coins show at least 0.130 of the 7.92 allowed to dp-8"
    assert findings.costs(whole) == "162 answers and 160,000 tokens went into these corpora"


def test_a_front_of_all_is_a_trade():
    front = Front(privacy="exposure_bits", capability="held_out_perplexity", conditions=["none", "direct"])
    target = made.target(made.bare("none"), made.bare("direct"), front=front)
    assert findings.tradeoff(target) == "Every condition gives up one side for the other"
    alone = made.target(made.bare("none"), made.bare("direct"), front=replace(front, conditions=["direct"]))
    assert findings.tradeoff(alone) == "direct beats every other condition on both sides"


def test_nothing_told_and_nobody_found():
    none = made.bare("none", extraction=[made.extraction("greedy_exact", [0, 0])])
    direct = made.bare(
        "direct",
        extraction=[made.extraction("greedy_exact", [0, 0])],
        attacks=[made.attack("loss", "record", 0.0, primary=True)],
    )
    target = made.target(none, direct)
    assert findings.extraction(target) == "No secrets are told to the letter"
    assert findings.membership(target) == "Training records can't be told from unseen ones better than by chance"


def test_correlations_are_corrected_for_how_many_were_tried():
    """0.02 is below 0.05; four times 0.02 is not."""
    one = made.correlation("verbatim_perplexity", "semantic_perplexity", -0.9, p=0.02)
    sure = "Alike in how they order the conditions: verbatim perplexity and semantic perplexity (in reverse)"
    assert findings.correlations(made.target(correlations=[one]), CATALOGUE) == sure
    four = made.target(correlations=[one, *[replace(one, p=0.9)] * 3])
    assert findings.correlations(four, CATALOGUE) == "No two metrics order these conditions alike beyond chance"
    assert findings.correlations(made.target(), CATALOGUE) == ""


def test_a_budget_without_coins_is_said_to_be_unknown():
    dp = made.bare("dp-8", privacy=made.dp())
    assert findings.budget(made.target(dp)) == "No coin shows how much of the budget of dp-8 is spent"
    broken = replace(dp, epsilon_bound=made.bound(9.0, [1]))
    assert findings.budget(made.target(broken)) == "The coins refute the privacy that dp-8 claims"


def test_disclosures_below_the_phantoms_are_none():
    """A corpus that shows fewer of its own people than of strangers discloses nothing, whatever p."""
    shown = made.disclosed("c", 0.9)
    more, less = (replace(shown[0], beyond_chance=sign * 50.0) for sign in (1, -1))
    assert findings.disclosures(made.target(made.bare("scrub", disclosed=[more]))) == (
        "More of its people than chance shows stand in the corpus of scrub"
    )
    assert findings.disclosures(made.target(made.bare("scrub", disclosed=[less]))) == (
        "No corpus shows more of its people than chance does"
    )
