"""docs/metrics.md defines every figure, and all that a reader must know of each."""

import re
from pathlib import Path

import pytest

from leakscape.landscape.catalogue import CATALOGUE, HARNESS
from leakscape.scoring.attacks import ATTACKS
from leakscape.scoring.metrics import METRICS
from leakscape.scoring.rows import PROBES
from leakscape.statistics.extraction import WAYS

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (.*`.*)\n((?:(?!^##).*\n)*)", PAGE, flags=re.MULTILINE))
OTHERS = ("disclosed", "ranks", "front", "correlations", "privacy", f"{HARNESS}TASK")


def section(name: str) -> str:
    (text,) = [text for heading, text in SECTIONS.items() if f"`{name}`" in heading]
    return text


@pytest.mark.parametrize("name", [*METRICS, *CATALOGUE, *OTHERS])
def test_every_figure_has_one_section_with_all_that_defines_it(name: str):
    text = section(name).lower()
    asked = ("formula:", "source:", "unit", "range", "interval", "null", "misread:")
    assert [word for word in asked if word not in text] == []


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_direction_is_that_of_the_catalogue(name: str):
    entry = CATALOGUE[name]
    good = "neither high nor low is good" if entry.side == "reference" else f"{entry.better} is good"
    assert good in " ".join(section(name).lower().split())


def test_attacks_ways_to_count_and_probes_are_defined():
    assert [name for name in (*ATTACKS, *WAYS, *PROBES) if f"| `{name}` |" not in PAGE] == []


def test_no_section_is_of_a_figure_that_is_not_there():
    named = {name for heading in SECTIONS for name in re.findall(r"`(.+?)`", heading)}
    assert named - set(OTHERS) <= set(CATALOGUE)
