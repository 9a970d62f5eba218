"""Turns matplotlib figures into SVG that can stand inside a page.

Text stays text, colours become CSS variables (so that a page's light and dark themes reach into the picture), ids are
made unique to the picture, and equal figures give equal bytes.
"""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, LINE, PAPER = "#010101", "#020202", "#030303", "#040404"
"""Stand-ins for the page's colours: text, quiet text, grid lines, ground."""

SERIES = tuple(f"#1000{number:02x}" for number in range(1, 9))
"""Stand-ins for the colours of conditions; the page defines --series-1 to --series-8."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
"""A marker beside each colour, so that nothing is told by colour alone."""

_VARIABLES = {INK: "--ink", QUIET: "--quiet", LINE: "--line", PAPER: "--paper"} | {
    color: f"--series-{number}" for number, color in enumerate(SERIES, start=1)
}
_STYLE: Any = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "axes.labelsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.6,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "path.simplify": False,
}


@contextmanager
def canvas(width: float, height: float, *, columns: int = 1, rows: int = 1) -> Iterator[tuple["Figure", list["Axes"]]]:
    """A figure in the page's style, with its axes; `width` and `height` in inches of 72 px."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def render(figure: "Figure", *, name: str, title: str, description: str) -> str:
    """The figure as an accessible inline SVG.

    Args:
        figure: drawn within `canvas`.
        name: unique on the page; ids begin with it.
        title: what it shows, in a few words.
        description: what can be seen in it, in a sentence or two.
    """
    import matplotlib as mpl

    out = StringIO()
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    text = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', text)
    for color, variable in _VARIABLES.items():
        text = text.replace(color, f"var({variable})")
    return _described(text, name, title, description)


def _described(text: str, name: str, title: str, description: str) -> str:
    box = re.search(r'viewBox="[^"]+"', text)
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box.group() if box else ""} role="img" '
        f'aria-labelledby="{name}-title {name}-description">'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-description">{html.escape(description)}</desc>'
    )
    return start + text[text.index(">") + 1 :].strip()
