"""What a user sees of a local run: a live table on a terminal, a line a change elsewhere. On stderr."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from leakscape.local.steps import State, Step
from leakscape.progress import say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_SECONDS_BETWEEN_LINES = 30.0
_SECONDS_WIDTH = 8
_ROWS_AROUND = 6  # lines of the terminal that the table leaves free
_MARKS = {
    State.WAITING: ("·", "dim"),
    State.RUNNING: ("▸", "cyan"),
    State.DONE: ("✓", "green"),
    State.REUSED: ("↺", "green"),
    State.FAILED: ("✗", "red"),
}


class View(Protocol):
    """Shows the steps of a run."""

    def changed(self, step: Step) -> None:
        """A step went on to another state."""

    def tick(self, step: Step) -> None:
        """A second of a running step went by."""


class Lines:
    """Plain lines, for pods, CI and files."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._last = time.monotonic()

    def changed(self, step: Step) -> None:
        """Say what a step does when it begins and how it ended."""
        self._last = time.monotonic()
        say(f"{self._where(step)}: {_ending(step) if step.state is not State.RUNNING else step.what}")

    def tick(self, step: Step) -> None:
        """Now and then say how far a step is, in its own words."""
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            said = step.last_lines(1)
            say(f"{self._where(step)}: {step.elapsed:.0f} s{', ' + said[0] if said else ''}")

    def _where(self, step: Step) -> str:
        return f"[{self._steps.index(step) + 1}/{len(self._steps)}] {step.title}"


class Live:
    """A table that redraws itself; as many rows as the terminal has, around the step that runs."""

    def __init__(self, steps: Sequence[Step], console: "Console") -> None:
        self._steps = steps
        self._console = console

    def __rich__(self) -> "Table":
        return table(self._window())

    def changed(self, step: Step) -> None:
        """The next redrawing shows it."""

    def tick(self, step: Step) -> None:
        """The next redrawing shows it."""

    def _window(self) -> Sequence[Step]:
        room = max(1, self._console.height - _ROWS_AROUND)
        now = next((place for place, step in enumerate(self._steps) if not step.state.finished), 0)
        first = max(0, min(now - room // 2, len(self._steps) - room))
        return self._steps[first : first + room]


@contextlib.contextmanager
def view(steps: Sequence[Step]) -> Iterator[View]:
    """Show steps while the context lasts, and their final states on a terminal afterwards."""
    from rich.console import Console
    from rich.live import Live as RichLive

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(steps)
        return
    live = Live(steps, console)
    drawn = RichLive(
        live, console=console, transient=True, refresh_per_second=4, redirect_stdout=False, redirect_stderr=False
    )
    try:
        with drawn:
            yield live
    finally:
        console.print(table(steps))


def table(steps: Sequence[Step]) -> "Table":
    """Mark, title, seconds and what the step does or last said."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    made = Table.grid(padding=(0, 2), expand=True)
    made.add_column(no_wrap=True, min_width=1)
    made.add_column(no_wrap=True, min_width=max((cell_len(step.title) for step in steps), default=0))
    made.add_column(justify="right", no_wrap=True, min_width=_SECONDS_WIDTH)
    made.add_column(no_wrap=True, overflow="ellipsis", ratio=1)  # what is left of the line
    for step in steps:
        mark, style = _MARKS[step.state]
        said = step.last_lines(1) if step.state is State.RUNNING else []
        words = said[0] if said else (_ending(step) if step.state in (State.REUSED, State.FAILED) else step.what)
        seconds = "" if step.state in (State.WAITING, State.REUSED) else f"{step.elapsed:.1f} s"
        made.add_row(Text(mark, style=style), Text(step.title), Text(seconds), Text(words, style="dim"))
    return made


def _ending(step: Step) -> str:
    if step.state is State.REUSED:
        return f"reused (its making took {step.seconds:.1f} s)"
    if step.state is State.FAILED:
        return f"failed with exit code {step.exit_code} after {step.seconds:.1f} s"
    return f"{step.state.value} in {step.seconds:.1f} s"
