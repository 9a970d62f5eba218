"""The report in a real browser: drawn, quiet, sortable, narrow, dark, of a size that one can mail."""

import html as escapes
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import landscape_made as made
import pytest

from leakscape.landscape import charts, report

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""

pytestmark = [pytest.mark.integration, pytest.mark.skipif(not BROWSER, reason="no chromium here")]

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr", "--virtual-time-budget=8000",
)  # fmt: skip

# Opens what is folded, sorts every table by its second column, four presses, and measures pictures and links.
ASK = """
<script>
document.querySelector("button[data-unfold]").click();
const folded = document.querySelectorAll("details:not([open])").length;
const sorted = [...document.querySelectorAll("table[data-sortable]")].map((table) => {
  const head = table.tHead.rows[0].cells[1];
  return [0, 1, 2, 3].map(() => {
    const keys = [...table.tBodies[0].rows].map((row) => row.cells[1].dataset.key || "");
    const names = [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim());
    const order = head.getAttribute("aria-sort");
    head.querySelector("button").focus();
    document.activeElement.click();
    return [order, keys, names];
  });
});
const pictures = [...document.querySelectorAll("svg")].map((svg) => {
  const box = svg.getBoundingClientRect();
  const inner = [...svg.querySelectorAll("path, use")].map((mark) => mark.getBoundingClientRect());
  return {
    name: svg.getAttribute("aria-labelledby").split("-")[0],
    width: Math.round(box.width),
    height: Math.round(box.height),
    marks: inner.filter((mark) => mark.width + mark.height > 0).length,
    title: svg.querySelector("title").textContent,
    desc: svg.querySelector("desc").textContent,
  };
});
const broken = [...document.querySelectorAll("a[href^='#']")].filter((link) => !document.querySelector(link.hash));
const root = document.documentElement;
const answer = {
  sorted, pictures, folded,
  broken: broken.map((link) => link.hash),
  links: document.querySelectorAll("nav a").length,
  wide: root.scrollWidth - root.clientWidth,
  room: root.clientWidth,
  ink: getComputedStyle(document.body).color,
  title: document.title,
  loaded: performance.getEntriesByType("resource").map((entry) => entry.name),
};
const text = JSON.stringify(answer);
const shown = document.createElement("pre");
shown.id = "answer";
shown.textContent = text;
if (window.parent !== window) window.parent.postMessage(text, "*");
else document.body.append(shown);
</script>
"""

PHONE = """<!doctype html><body><iframe src="report.html" width="420" height="900"></iframe><script>
addEventListener("message", (event) => {
  const shown = document.createElement("pre");
  shown.id = "answer";
  shown.textContent = event.data;
  document.body.append(shown);
});
</script>"""


def browse(page: Path, folder: Path, *options: str) -> tuple[dict[str, Any], str]:
    """What the page answers, and what the browser logged of it."""
    done = subprocess.run(
        [BROWSER, *QUIET, *options, f"--user-data-dir={folder}", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
        env={**os.environ, "HOME": str(folder)},
    )
    found = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr
    return json.loads(escapes.unescape(found.group(1))), done.stderr


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = {"name": "made", "description": "<script>document.title = 'taken'</script>", "seed": 0}
    text = report.render(made.landscape(made.whole(), plan=plan))
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(text.replace("</body>", ASK + "</body>"), encoding="utf-8")
    path.with_name("phone.html").write_text(PHONE, encoding="utf-8")
    return path


def test_drawn_sorted_linked_and_silent(page: Path, tmp_path: Path):
    answer, log = browse(page, tmp_path, "--window-size=1200,900")
    assert answer["loaded"] == answer["broken"] == []
    assert "CONSOLE" not in log
    assert answer["title"].startswith("made")
    assert answer["folded"] == 0
    assert answer["links"] == 16
    assert answer["wide"] == 0
    assert {each["name"] for each in answer["pictures"]} == set(charts.__all__)
    for each in answer["pictures"]:
        assert min(each["width"] / 9, each["height"], 10 * each["marks"]) > 100, each["name"]
        assert all((each["title"], each["desc"])), each["name"]


def test_every_table_sorts_up_down_and_back(page: Path, tmp_path: Path):
    answer, _ = browse(page, tmp_path, "--window-size=1200,900")
    assert len(answer["sorted"]) >= 12
    for first, rising, falling, last in answer["sorted"]:
        assert [first[0], rising[0], falling[0], last[0]] == ["none", "ascending", "descending", "none"]
        assert first[2] == last[2]
        known = [key for key in first[1] if key]
        number = all(re.fullmatch(r"-?[\d.e-]+", key) for key in known)
        in_order = sorted(known, key=float) if number else sorted(known, key=str.casefold)
        gaps = [""] * (len(first[1]) - len(known))
        assert rising[1] == in_order + gaps
        assert falling[1] == in_order[::-1] + gaps


def test_nothing_spills_on_a_phone(page: Path, tmp_path: Path):
    answer, log = browse(page.with_name("phone.html"), tmp_path, "--window-size=600,900")
    assert answer["room"] <= 420
    assert answer["wide"] == 0
    assert "CONSOLE" not in log


def test_dark_is_dark(page: Path, tmp_path: Path):
    light, _ = browse(page, tmp_path / "light")
    dark, log = browse(page, tmp_path / "dark", "--blink-settings=preferredColorScheme=0")
    assert (light["ink"], dark["ink"]) == ("rgb(32, 36, 43)", "rgb(230, 228, 223)")
    assert "CONSOLE" not in log


def test_seven_conditions_fit_into_a_mail(page: Path):
    assert page.stat().st_size < 600_000
