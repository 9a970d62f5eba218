"""`python -m leakscape` is `leakscape`."""

import sys

from leakscape.cli import main

sys.exit(main())
