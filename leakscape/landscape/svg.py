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

SERIES = tuple(f"#1000{number:02x}" for number in range(1, 11))
"""Stand-ins for the colours of conditions; the page defines --series-1 to --series-10."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h", "<", "*")
"""A marker beside each colour, so that nothing is told by colour alone."""

_VARIABLES = {INK: "--ink", QUIET: "--quiet", LINE: "--line", PAPER: "--paper"} | {
    color: f"--series-{number}" for number, color in enumerate(SERIES, start=1)
}
_TAG = re.compile(r"<[^<>]+>")
_COORDINATES = re.compile(r'\b(?:d|x|y|transform)="[^"]*"')
_ID = re.compile(r'\s+id="([^"]+)"')
_PATH = re.compile(r'\bd="([^"]*)"')
_NOT_TURNED = re.compile(r'\s+transform="rotate\(-?0 [^"]*"')
_FAMILY = re.compile(r"\s*font-family: [^;\"]*;")  # the page's own; matplotlib's has measured the text
_LONG_NUMBER = re.compile(r"(\d\.\d\d)\d+")  # a hundredth of a point is more than anyone sees
_STYLE: Any = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
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
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', text))
    text = _TAG.sub(lambda tag: _own(tag.group(), name, used), text)
    text = re.sub(r"<g\s*/>", "", re.sub(r"\s*\n\s*", "\n", text))
    return _described(text.replace("\n<", "<"), name, title, description)


def _own(tag: str, name: str, used: set[str]) -> str:
    """A tag whose ids are the picture's own, whose colours and font are the page's, and which is short."""
    tag = _ID.sub(lambda found: f' id="{name}-{found.group(1)}"' if found.group(1) in used else "", tag)
    tag = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", tag)
    tag = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', tag)
    tag = _COORDINATES.sub(lambda found: _LONG_NUMBER.sub(r"\1", found.group()), tag)
    tag = _PATH.sub(lambda found: re.sub(r"\s*([A-Za-z])\s*", r"\1", found.group(1)).join(('d="', '"')), tag)
    tag = _FAMILY.sub("", _NOT_TURNED.sub("", tag))
    for color, variable in _VARIABLES.items():
        tag = tag.replace(color, f"var({variable})")
    return tag


def _described(text: str, name: str, title: str, description: str) -> str:
    box = re.search(r'viewBox="[^"]+"', text)
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box.group() if box else ""} role="img" '
        f'aria-labelledby="{name}-title {name}-description">'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-description">{html.escape(description)}</desc>'
    )
    return start + text[text.index(">") + 1 :].strip()
