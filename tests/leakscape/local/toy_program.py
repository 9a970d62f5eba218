"""`leakscape` with the toy components in place of the real ones."""

import sys
from pathlib import Path

import components

if __name__ == "__main__":
    components.__path__ = [str(Path(__file__).parent / "toy_components")]

    from leakscape.entrypoint import run_component

    sys.exit(run_component(sys.argv[1], sys.argv[2:]))
