"""What a section of the page is made of: pictures with captions, and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from leakscape.landscape.schema import Condition, Difference, Estimate, Target
from leakscape.landscape.words import DASH, SURE, change, number, p_value, span


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: what is shown, and what it sorts by (empty sorts last)."""

    text: str
    note: str = ""
    second: str = ""
    key: str = ""
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """A column's head and a note under it."""

    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its name, its cells, whether it is the reference (shaded), and the condition's place for its colour."""

    name: str
    cells: Sequence[Cell]
    reference: bool = False
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `folded` ones open at a click."""

    label: str
    caption: str
    heads: Sequence[Head]
    rows: Sequence[Row]
    first: str = "Condition"
    sortable: bool = False
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG and how to read it."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page about one thing.

    Args:
        key: of its link, unique within a target.
        topic: what it is about, in a word or two; the link's text.
        finding: what it shows, as a heading; empty where nothing can be said.
        pictures: without those that are empty.
        notes: sentences before the tables.
        tables: without those that have no row.
    """

    key: str
    topic: str
    finding: str
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = ()
    tables: Sequence[Table] = field(default=())

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.pictures or self.tables)


def pictures(svg: str, *, caption: str) -> list[Picture]:
    """A picture with its caption, unless there is nothing in it."""
    return [Picture(svg, caption)] if svg else []


def tables(*given: Table | None) -> list[Table]:
    """Those that have a row."""
    return [table for table in given if table is not None and table.rows]


def condition_row(target: Target, item: Condition, cells: Sequence[Cell]) -> Row:
    """A condition's row, in its colour."""
    return Row(item.name, cells, reference=item.name == target.untouched, place=target.conditions.index(item))


def estimate_cell(found: Estimate | None, *, none: str = "") -> Cell:
    """A figure over its interval."""
    if found is None:
        return Cell(DASH, none)
    return Cell(number(found.value), span(found), key=repr(found.value))


def share_cell(found: Estimate | None, *, none: str = "") -> Cell:
    """A share as a count over its interval in percent."""
    if found is None:
        return Cell(DASH, none)
    part = round(found.value * found.n)
    ends = "" if found.low is None or found.high is None else f"[{100 * found.low:.0f}, {100 * found.high:.0f}] %"
    return Cell(f"{part} of {found.n}", ends, key=repr(found.value))


def difference_cell(found: Difference | None) -> Cell:
    """A difference over its interval and its p; bold below 0.05 after correction."""
    if found is None:
        return Cell(DASH)
    value, _, interval = change(found).partition(" ")
    return Cell(value, interval, p_value(found.p_holm), key=repr(found.value), sure=found.p_holm < SURE)
