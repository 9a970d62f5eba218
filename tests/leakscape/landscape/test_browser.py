"""The report in a real browser: drawn, quiet, sortable."""

import html as escapes
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import landscape_fakes as fakes
import pytest

from leakscape.landscape import report
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.source import read_evidence, read_measurements

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""

pytestmark = [pytest.mark.integration, pytest.mark.skipif(not BROWSER, reason="no chromium here")]

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr", "--virtual-time-budget=4000",
)  # fmt: skip

# Presses the second column's head three times, noting what the first column holds; and measures the pictures.
ASK = """
<script>
const table = document.querySelector("table[data-sortable]");
const head = table.tHead.rows[0].cells[1];
const orders = [];
for (let press = 0; press < 4; press++) {
  const names = [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim());
  orders.push([head.getAttribute("aria-sort"), names]);
  head.querySelector("button").focus();
  document.activeElement.click();
}
const pictures = [...document.querySelectorAll("svg")].map((svg) => {
  const box = svg.getBoundingClientRect();
  return [Math.round(box.width), Math.round(box.height), svg.querySelectorAll("path, use").length];
});
const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
const ink = getComputedStyle(document.body).color;
const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
const answer = document.createElement("pre");
answer.id = "answer";
answer.textContent = JSON.stringify({ orders, pictures, wide, ink, loaded });
document.body.append(answer);
</script>
"""


def browse(page: Path, folder: Path, *options: str) -> tuple[dict[str, object], str]:
    """What the page answers, and what the browser logged of it."""
    done = subprocess.run(
        [BROWSER, *QUIET, *options, f"--user-data-dir={folder}", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "HOME": str(folder)},
    )
    found = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr
    return json.loads(escapes.unescape(found.group(1))), done.stderr


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    names = ("none", "direct", "scrub", "goldfish")
    found = read_evidence(fakes.laptop_evidence(folder, names))
    measured = read_measurements(fakes.laptop(folder, names))
    plan = {**fakes.PLAN, "description": "<script>document.title = 'taken'</script>"}
    text = report.render(aggregate(measured, found, plan, Settings(resamples=300)))
    path = folder / "report.html"
    path.write_text(text.replace("</body>", ASK + "</body>"), encoding="utf-8")
    return path


def test_sorting_pictures_and_silence(page: Path, tmp_path: Path):
    answer, log = browse(page, tmp_path, "--window-size=1200,900")
    assert answer["orders"] == [
        ["none", ["none", "direct", "scrub", "goldfish"]],
        ["ascending", ["direct", "scrub", "goldfish", "none"]],
        ["descending", ["none", "goldfish", "scrub", "direct"]],
        ["none", ["none", "direct", "scrub", "goldfish"]],
    ]
    assert len(answer["pictures"]) == 4  # type: ignore[arg-type]
    assert all(width > 500 and height > 150 and marks > 10 for width, height, marks in answer["pictures"])  # type: ignore[union-attr, attr-defined]
    assert answer["loaded"] == []
    assert "CONSOLE" not in log


def test_nothing_spills_on_a_phone_and_dark_is_dark(page: Path, tmp_path: Path):
    light, _ = browse(page, tmp_path / "light", "--window-size=500,900")
    dark, log = browse(page, tmp_path / "dark", "--window-size=500,900", "--blink-settings=preferredColorScheme=0")
    assert light["wide"] is False
    assert (light["ink"], dark["ink"]) == ("rgb(32, 36, 43)", "rgb(230, 228, 223)")
    assert "CONSOLE" not in log
