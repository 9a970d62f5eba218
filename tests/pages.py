"""The marked blocks of a page under docs/; `tests/docs/test_commands.py` says what the marks mean."""

import re
from dataclasses import dataclass

MARKED = re.compile(
    r"^<!-- (?:given (?P<plan>\S+) -->$"
    r"|(?P<kind>run|file)(?: (?P<argument>\S+))? -->\n```(?P<language>\w*)\n(?P<text>.*?)^```$)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A marked block of a page."""

    line: int
    kind: str
    argument: str
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """The marked blocks of a page's text, in order."""
    return [
        Block(
            page.count("\n", 0, found.start()) + 1,
            found["kind"] or "given",
            found["argument"] or found["plan"] or "",
            found["language"] or "",
            found["text"] or "",
        )
        for found in MARKED.finditer(page)
    ]
