"""Write the table of values in charts/leakscape/README.md from values.yaml, or check that it is up to date.

A value's description is the comment above it that begins with `# --`; further comment lines go on with it. A mapping
that has a description of its own is one row, any other one row for each value in it.

python tools/chart_readme.py            writes
python tools/chart_readme.py --check    ends with 1 if the table is stale
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[1] / "charts" / "leakscape"
START, END = "<!-- values -->\n", "<!-- /values -->\n"
_KEY = re.compile(r"^( *)([A-Za-z0-9_.-]+):")


def descriptions(text: str) -> dict[tuple[str, ...], str]:
    """The descriptions of a values file, by the keys that lead to each value."""
    found: dict[tuple[str, ...], str] = {}
    path: list[tuple[int, str]] = []
    comment: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("# -- "):
            comment = [stripped.removeprefix("# -- ")]
        elif stripped.startswith("#") and comment:
            comment.append(stripped.removeprefix("#").strip())
        elif match := _KEY.match(line):
            indent = len(match[1])
            path = [*((depth, key) for depth, key in path if depth < indent), (indent, match[2])]
            if comment:
                found[tuple(key for _, key in path)] = " ".join(comment)
            comment = []
        else:
            comment = []
    return found


def leaves(
    values: Mapping[str, Any], described: Mapping[tuple[str, ...], str], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values that are a row each: those that are described, and below mappings that are not."""
    for key, value in values.items():
        path = (*above, key)
        if isinstance(value, dict) and value and path not in described:
            yield from leaves(value, described, path)
        else:
            yield path, value


def table(text: str) -> str:
    """The table of a values file."""
    described = descriptions(text)
    lines = ["| value | default | what it is |", "| --- | --- | --- |"]
    for path, value in leaves(yaml.safe_load(text), described):
        shown = json.dumps(value, ensure_ascii=False).replace("|", "\\|")
        lines.append(f"| `{'.'.join(path)}` | `{shown}` | {described.get(path, '').replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def readme(page: str, text: str) -> str:
    """The page with a fresh table.

    Raises:
        ValueError: the page lacks the markers that the table stands between.
    """
    before, found, rest = page.partition(START)
    _, ended, after = rest.partition(END)
    if not (found and ended):
        raise ValueError(f"the table must stand between {START.strip()} and {END.strip()}")
    return before + START + table(text) + END + after


def main() -> int:
    """Write or check; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if the table is stale")
    check = parser.parse_args().check
    page = CHART / "README.md"
    held = page.read_text(encoding="utf-8")
    wanted = readme(held, (CHART / "values.yaml").read_text(encoding="utf-8"))
    if held == wanted:
        return 0
    if check:
        print(f"{page}: the table is stale: run `make docs`")
        return 1
    page.write_text(wanted, encoding="utf-8", newline="\n")
    print(f"{page} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
