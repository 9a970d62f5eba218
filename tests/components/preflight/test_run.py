from pathlib import Path

import pytest

from components.preflight.contract import Preflight
from components.preflight.run import run
from leakscape import __version__
from leakscape.errors import InputError


def test_a_laptop_has_what_the_laptop_plan_needs(tmp_path: Path):
    run(
        Preflight(
            models=["leakscape/tiny"],
            places=[str(tmp_path / "store")],
            version=__version__,
            report=tmp_path / "page.md",
        )
    )
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert page.startswith("# Preflight\n\nAll that this audit needs is there.\n")
    assert "| model | leakscape/tiny | fine |" in page


def test_everything_missing_is_in_one_message_and_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    contract = Preflight(
        models=["./nowhere", "leakscape/tiny"],
        variables=["NO_SUCH_KEY"],
        places=["gs://bucket", "/dev/null/history"],
        accelerators=64,
        version="0.0.0",
        report=tmp_path / "page.md",
    )
    with pytest.raises(InputError) as raised:
        run(contract)
    lines = str(raised.value).splitlines()
    assert lines[0] == "6 of what this audit needs is missing:"
    assert [line.split(":")[0] for line in lines[1:]] == [
        "- version leakscape",
        "- secret NO_SUCH_KEY",
        "- model ./nowhere",
        "- place gs",
        "- place /dev/null/history",
        "- accelerator nvidia.com/gpu",
    ]
    assert (tmp_path / "page.md").read_text(encoding="utf-8").count("| missing |") == 6
