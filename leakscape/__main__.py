"""`python -m leakscape`: the same as `leakscape`."""

import sys

from leakscape.cli import main

if __name__ == "__main__":
    sys.exit(main())
