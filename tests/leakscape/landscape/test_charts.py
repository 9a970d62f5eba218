"""What the pictures are drawn from, and that they are sound SVG."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations

import landscape_made as made
import pytest

from leakscape.landscape import charts
from leakscape.landscape.catalogue import CATALOGUE, Entry
from leakscape.landscape.charts.common import color_of, marker_of
from leakscape.landscape.charts.membership import _corners
from leakscape.landscape.charts.radar import spokes
from leakscape.landscape.schema import Condition, Front, Target

SVG = "{http://www.w3.org/2000/svg}"
BASKET = {**CATALOGUE, "harness_arc": Entry(name="harness_arc", title="arc, acc", side="capability", better="high",
                                            unit="", note="", counts="items")}  # fmt: skip


def draw(name: str, target: Target) -> str:
    if name in ("radar", "correlations"):
        return getattr(charts, name)(target, BASKET, name)
    return getattr(charts, name)(target, name)


@pytest.mark.parametrize("name", charts.__all__)
def test_nothing_to_show_is_no_picture(name: str):
    assert draw(name, made.target(made.bare("none"), made.bare("direct"))) == ""


def test_canaries_that_coins_left_out_are_no_histogram():
    """A landscape counts planted canaries alone: nothing but zeros where every coin fell the other way."""
    empty = replace(made.bare("none"), exposure_counts=[0, 0, 0])
    assert draw("exposures", made.target(empty, empty)) == ""
    assert draw("exposures", made.target(empty, replace(empty, name="direct", exposure_counts=[0, 2, 1])))


@pytest.mark.parametrize("name", charts.__all__)
def test_pictures_are_sound_and_speak(name: str):
    hostile = 'd="3.14159" id="x" & $x_1$ <b>'
    last = made.condition("rewrite" if name in ("judged", "disclosures") else "dp-8")
    front = Front(privacy="exposure_bits", capability="held_out_perplexity", conditions=["none", hostile])
    pair = made.correlation("verbatim_perplexity", "semantic_perplexity", 1.0, p=0.33, n=3)
    target = made.target(
        made.condition("none"), made.condition("direct"), replace(last, name=hostile), front=front, correlations=[pair]
    )
    text = draw(name, target)
    root = ET.fromstring(text)  # noqa: S314 - our own picture
    assert root.find(f"{SVG}title").text
    assert root.find(f"{SVG}desc").text
    assert root.get("aria-labelledby") == f"{name}-title {name}-description"
    assert any(hostile in (each.text or "") for each in root.iter(f"{SVG}text"))
    assert all(each.get("id").startswith(f"{name}-") for each in root.iter() if each.get("id"))


@pytest.mark.parametrize("name", ["tradeoff", "areas"])
def test_equal_targets_give_equal_bytes(name: str):
    one, other = (made.whole(("none", "direct")) for _ in range(2))
    assert draw(name, one) == draw(name, other)


def test_ten_conditions_have_ten_colours_and_ten_markers():
    assert len({color_of(number) for number in range(10)}) == len({marker_of(number) for number in range(10)}) == 10


def shaped(name: str, exposure: float, held_out: float, **more: float) -> Condition:
    values = {"exposure_bits": exposure, "held_out_perplexity": held_out, **more}
    return made.bare(name, metrics={metric: made.figure(value) for metric, value in values.items()})


def test_spokes_run_from_the_worst_condition_to_the_best():
    """Exposure 2, 8, 5, low is good: 1, 0, 1/2. Perplexity 100, 1, 10 by logarithms: 0, 1, 1/2. Of arc high is good."""
    target = made.target(
        shaped("none", 2, 100, harness_arc=0.2), shaped("direct", 8, 1, harness_arc=0.6),
        shaped("dp", 5, 10, harness_arc=0.3),
    )  # fmt: skip
    found = {spoke.metric: list(spoke.places.values()) for spoke in spokes(target, BASKET)}
    assert found == {
        "exposure_bits": pytest.approx([1, 0, 0.5]),
        "held_out_perplexity": pytest.approx([0, 1, 0.5]),
        "harness_arc": pytest.approx([0, 1, 0.25]),
    }
    assert [spoke.side for spoke in spokes(target, BASKET)] == ["privacy", "capability", "capability"]


def test_a_metric_that_is_equal_or_not_everywhere_has_no_spoke():
    few = made.target(
        shaped("none", 2, 100, medication_perplexity=3, verbatim_perplexity=9),
        shaped("direct", 8, 1, medication_perplexity=3),
    )
    assert spokes(few, BASKET) == []  # exposure and held-out remain: two spokes are no shape


def test_corners_of_a_curve_are_kept_and_steps_are_not():
    points = [(0, 0), (0, 0.2), (0, 0.5), (0.1, 0.5), (0.3, 0.5), (0.3, 1), (1, 1)]
    assert _corners(points) == [(0, 0), (0, 0.5), (0.3, 0.5), (0.3, 1), (1, 1)]


def test_names_of_conditions_in_one_place_do_not_cover_each_other():
    """Text is 10.5 high: on one line names keep apart by their length, elsewhere by their height."""
    names = ("none", "rewrite", "rewrite-vllm-16", "rewrite-rules")
    front = Front(privacy="exposure_bits", capability="held_out_perplexity", conditions=["none"])
    target = made.target(shaped("none", 2, 100), *(shaped(name, 5, 10) for name in names[1:]), front=front)
    root = ET.fromstring(draw("tradeoff", target))  # noqa: S314 - our own picture
    at = {
        each.text: (float(each.get("x")), float(each.get("y")))
        for each in root.iter(f"{SVG}text")
        if each.text in names
    }
    assert set(at) == set(names)
    for one, other in combinations(names, 2):
        (x, y), (u, v) = sorted((at[one], at[other]))
        assert abs(y - v) > 9 or u - x > 4 * len(one if at[one] == (x, y) else other)


def test_the_curve_marks_where_the_others_are_too_few():
    """120 others can't be 0.1 %: the axis is shaded up to 1/120."""
    assert "120 others are" in draw("roc", made.whole(("none", "direct")))


def test_the_budget_says_what_is_shown_and_what_is_allowed():
    text = draw("budget", made.whole())
    shown = re.findall(r">([^<>]+)</text>", text)
    assert {"shown: at least 1.3", "no upper bound →", "shown: at least 0.13", "allowed: at most 7.92"} <= set(shown)
