import re
from html.parser import HTMLParser
from pathlib import Path

import landscape_fakes as fakes
import pytest

from leakscape.landscape import report
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import Estimate
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.landscape.words import DASH, TIMES, number, span

HOSTILE = "<script>alert(1)</script>"
VOID = {"meta", "link", "br", "hr", "img"}


class Page(HTMLParser):
    """Collects what the tests ask of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "data", "action", "srcset"):
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    names = ("none", "direct", "scrub", "dp-8")
    plan = {
        **fakes.PLAN,
        "description": HOSTILE,
        "conditions": [{"name": name, "summary": f"{name} {HOSTILE} & more"} for name in (*names, "unlearn")],
    }
    found = read_evidence(fakes.laptop_evidence(folder, names))
    measured = read_measurements(fakes.laptop(folder, names))
    return report.render(aggregate(measured, found, plan, Settings(resamples=300)))


def test_page_is_well_formed_and_fetches_nothing(html: str):
    page = Page(html)
    assert page.open == []
    assert all(link.startswith("#") or link == "data:," for link in page.links)
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert len(html.encode()) < 400_000


def test_texts_are_escaped(html: str):
    page = Page(html)
    assert page.tags.count("script") == 1
    assert HOSTILE not in html
    assert page.text.count(HOSTILE) >= 4


def test_ids_are_unique_and_pictures_speak(html: str):
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    drawn = page.tags.count("svg")
    assert drawn == page.tags.count("figure") == page.tags.count("figcaption") >= 4
    assert page.tags.count("title") == page.tags.count("desc") + 1 == drawn + 1
    assert html.count('role="img"') == drawn
    assert page.tags.count("caption") == page.tags.count("table")
    for wanted in re.findall(r'aria-labelledby="([^"]+)"', html):
        assert set(wanted.split()) <= set(page.ids)
    for wanted in re.findall(r'(?:href="|url\()#([^")]+)', html):
        assert wanted in page.ids


def test_labels_are_text_in_the_pages_colours(html: str):
    """Names of conditions stand as text in the pictures; no colour is fixed where a theme should choose."""
    pictures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert all(f">{name}</text>" in pictures[0] for name in ("none", "direct", "scrub", "dp-8"))
    assert all("var(--ink)" in picture and "var(--series-2)" in picture for picture in pictures)
    assert not re.findall(r"(?:fill|stroke): #(?!fff)", "".join(pictures))


def test_page_tells_what_was_found_and_what_was_not(html: str):
    text = " ".join(Page(html).text.split())
    assert "Direct fine-tuning memorised canaries that stand in the corpus" in text
    assert f"{TIMES}16, {TIMES}32 and {TIMES}64" in text
    assert "Under dp-8 no multiplicity shows a leak" in text
    assert "All this rests on 25 canaries, 5 to a multiplicity" in text
    assert "unlearn: in the plan, but no measurement was given." in text
    assert "Extrapolated exposure (all conditions)" in text
    assert "delta 1e-05 · epsilon 7.98" in text
    assert "nan" not in re.findall(r"[a-z]+", text.lower())


def test_digests_of_the_whole_chain_stand_in_the_page(html: str, tmp_path: Path):
    names = ("none", "direct", "scrub", "dp-8")
    for item in read_measurements(fakes.laptop(tmp_path, names)):
        assert item.manifest.digest in html
    for found in read_evidence(fakes.laptop_evidence(tmp_path / "evidence", names)):
        assert found.evidence.digest in html


@pytest.mark.parametrize("names", [("none",), ("direct",), ("none", "dp-8")])
def test_fewer_conditions_still_make_a_page(tmp_path: Path, names: tuple[str, ...]):
    measured = read_measurements(fakes.laptop(tmp_path, names, exposure=False))
    page = Page(report.render(aggregate(measured, [], {}, Settings(resamples=200))))
    assert page.open == []
    assert "Capability against privacy" in page.text


def test_names_that_matplotlib_would_read_stay_as_they_are(tmp_path: Path):
    rows = [fakes.row("verbatim", "c", 3, multiplicity=1), fakes.row("held_out", "h", 3)]
    given = [
        fakes.measurements(rows),
        fakes.measurements(rows, condition="_a$x_1$ <b>", adapters=("ada",)),
    ]
    paths = [fakes.store(tmp_path / str(place), data) for place, data in enumerate(given)]
    html = report.render(aggregate(read_measurements(paths), [], {}, Settings(resamples=200)))
    pictures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(pictures) == 2
    assert all("_a$x_1$ &lt;b&gt;</text>" in picture for picture in pictures)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.5, "0.500"),
        (2.094, "2.09"),
        (17.66, "17.7"),
        (1234.4, "1,234"),
        (4.5e-6, f"4.5{TIMES}10⁻⁶"),
        (-0.21, "-0.210"),
    ],
)
def test_numbers(value: float, shown: str):
    assert number(value) == shown


def test_spans():
    assert span(Estimate(value=1, low=None, high=None, n=1)) == DASH
    assert span(Estimate(value=1, low=0.5, high=None, n=2)) == "[0.500, ∞]"
