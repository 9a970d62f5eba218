import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse lays out its help differently from 3.13 on")
def test_the_page_of_commands_is_fresh():
    made = importlib.util.spec_from_file_location("cli_docs", ROOT / "tools" / "cli_docs.py")
    assert made is not None
    assert made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert module.page() == page, "docs/cli.md is stale: run python tools/cli_docs.py"
    assert "## leakscape plan check\n" in page
