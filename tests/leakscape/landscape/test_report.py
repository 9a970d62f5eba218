import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import audit_fakes
import landscape_fakes as fakes
import landscape_made as made
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
        **audit_fakes.PLAN,
        "description": HOSTILE,
        "conditions": [{"name": name, "summary": f"{name} {HOSTILE} & more"} for name in (*names, "unlearn")],
    }
    found = read_evidence(audit_fakes.laptop_evidence(folder, names))
    measured = read_measurements(audit_fakes.laptop(folder, names))
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
    assert all("var(--ink)" in picture and "var(--series-" in picture for picture in pictures)
    assert not re.findall(r"(?:fill|stroke): #(?!fff)", "".join(pictures))


def test_page_tells_what_was_found_and_what_was_not(html: str):
    text = " ".join(Page(html).text.split())
    assert "Direct fine-tuning memorised planted secrets" in text
    assert "<dt>dp-8</dt><dd>no leak that this audit can tell from chance" in html
    assert "one run of each condition and on 25 canaries, 5 to a multiplicity" in text
    assert "unlearn: in the plan, but no measurement was given." in text
    assert "Extrapolated exposure (all conditions)" in text
    assert "delta 1e-05 · epsilon 7.98" in text
    assert "nan" not in re.findall(r"[a-z]+", text.lower())


def test_digests_of_the_whole_chain_stand_in_the_page(html: str, tmp_path: Path):
    names = ("none", "direct", "scrub", "dp-8")
    for item in read_measurements(audit_fakes.laptop(tmp_path, names)):
        assert item.manifest.digest in html
    for found in read_evidence(audit_fakes.laptop_evidence(tmp_path / "evidence", names)):
        assert found.evidence.digest in html


@pytest.mark.parametrize("names", [("none",), ("direct",), ("none", "dp-8")])
def test_fewer_conditions_still_make_a_page(tmp_path: Path, names: tuple[str, ...]):
    measured = read_measurements(audit_fakes.laptop(tmp_path, names, exposure=False))
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


@pytest.fixture(scope="module")
def whole() -> str:
    judged = made.condition("rewrite").judged[0]
    direct, dp = (made.condition(name) for name in ("direct", "dp-8"))
    conditions = (
        made.bare("none", judged=[replace(judged, judge=HOSTILE)]),
        made.bare("direct", attacks=direct.attacks, metrics=direct.metrics, differences=direct.differences),
        made.bare("dp-8", privacy=dp.privacy, epsilon_bound=dp.epsilon_bound, extraction=dp.extraction),
    )
    departures = [f"dp-8 was trained in lots of 64, direct in batches of 16 {HOSTILE}."]
    return report.render(made.landscape(made.target(*conditions, departures=departures)))


def test_what_was_forced_together_stands_above_what_was_found(whole: str):
    assert (
        whole.index("Put together by force")
        < whole.index("dp-8 was trained in lots of 64")
        < whole.index('id="found-0"')
    )
    assert HOSTILE not in whole
    assert Page(whole).text.count(HOSTILE) == 2


def test_links_lead_to_every_part(whole: str):
    page = Page(whole)
    inner = [link.removeprefix("#") for link in page.links if link.startswith("#target-0-")]
    assert [link.removeprefix("target-0-") for link in inner] == [
        "leakage", "extraction", "membership", "budget", "judge", "metrics", "differences", "unmeasured", "made",
    ]  # fmt: skip
    assert set(inner) <= set(page.ids)


def test_attacks_that_a_few_others_can_not_resolve_are_not_given_a_rate(whole: str):
    text = " ".join(Page(whole).text.split())
    assert "not resolved120 others are too few" in text  # 0.1 % of 120
    assert "not resolved20 others are too few" in text  # 1 % of 20


def test_a_bound_of_many_copies_is_not_held_against_a_record(whole: str):
    assert "no: a canary with all its copies" in whole
    assert "No canary was left out by a coin" not in whole


def test_without_coins_the_page_says_how_to_get_them():
    page = report.render(made.landscape(made.target(made.bare("dp-8", privacy=made.dp()))))
    assert "inclusion: coin" in page


def test_conditions_that_share_a_corpus_share_its_cost_and_its_disclosures():
    whole = made.condition("rewrite")
    one = made.bare("rewrite", costs=whole.costs, disclosed=whole.disclosed)
    page = report.render(made.landscape(made.target(one, replace(one, name="rewrite-dp"))))
    assert page.count('<th scope="row" class="many" data-key="rewrite, rewrite-dp">') == 1 + len(one.disclosed)
    assert "162 answers and 160,000 tokens" in page


def test_two_targets_make_one_page_of_unique_ids():
    one = made.bare("direct", losses=[(1, 2.0), (2, 1.0)], metrics={"exposure_bits": made.figure(2)})
    page = Page(report.render(made.landscape(made.target(one), made.target(one, name="other"))))
    assert len(page.ids) == len(set(page.ids))
    assert page.open == []
    assert page.tags.count("svg") == 2  # the losses of each


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
