"""Write components/*/README.md and the table of components in README.md, or check that they are up to date.

python tools/readmes.py            writes
python tools/readmes.py --check    names what is stale and ends with 1
"""

import argparse
import sys
from pathlib import Path

import components
from leakscape.documentation import component_readme, component_table, with_table
from leakscape.errors import InputError

ROOT = Path(__file__).parents[1]


def wanted() -> dict[Path, str]:
    """What each generated file must hold.

    Raises:
        InputError: README.md lacks the markers of the table.
    """
    contracts = components.contracts()
    texts = {
        ROOT / "components" / name.replace("-", "_") / "README.md": component_readme(contract)
        for name, contract in contracts.items()
    }
    main = ROOT / "README.md"
    return {**texts, main: with_table(main.read_text(encoding="utf-8"), component_table(contracts))}


def stale() -> dict[Path, str]:
    """The files that hold something else, or are missing, with what they must hold."""
    return {
        path: text for path, text in wanted().items() if not path.is_file() or path.read_text(encoding="utf-8") != text
    }


def main() -> int:
    """Write or check; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if a file is stale")
    check = parser.parse_args().check
    try:
        found = stale()
    except InputError as error:
        print(f"README.md: {error}", file=sys.stderr)
        return error.exit_code
    for path, text in found.items():
        print(f"{path.relative_to(ROOT)} {'is stale: run `make docs`' if check else 'written'}")
        if not check:
            path.write_text(text, encoding="utf-8", newline="\n")
    return 1 if check and found else 0


if __name__ == "__main__":
    sys.exit(main())
