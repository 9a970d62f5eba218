import pkgutil
import shlex
import sys
from pathlib import Path

import pytest

import components
from leakscape.documentation import TABLE_END, TABLE_START, component_readme, component_table, with_table
from leakscape.errors import InputError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", sorted(found.name for found in pkgutil.iter_modules(components.__path__)))
def test_the_readme_of_each_component_is_up_to_date(folder: str) -> None:
    text = (ROOT / "components" / folder / "README.md").read_text(encoding="utf-8")
    assert text == component_readme(components.contracts()[folder.replace("_", "-")]), "run `make docs`"


def test_the_table_of_components_is_up_to_date() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text == with_table(text, component_table(components.contracts())), "run `make docs`"


def test_a_readme_tells_everything(toy_components: Path) -> None:
    assert toy_components.is_dir()
    text = component_readme(components.contracts()["toy-sum"])
    assert text.startswith("<!-- Generated")
    assert "# toy-sum\n\nAdd numbers up.\n\nRuns in the image `base`." in text
    assert "| `--more` | corpus, any number | Further numbers. |" in text
    assert "| `--mode` | text | `well` | one of well, input, transient, bug, wait | How to end. |" in text
    assert "| `--note` | text | unset |  | Anything. |" in text
    command = text.split("```sh\n")[1].split("```")[0]
    assert shlex.split(command.replace("\\\n", ""))[:4] == ["leakscape", "toy-sum", "--numbers", "given/numbers"]


def test_the_table_names_what_goes_in_and_out(toy_components: Path) -> None:
    assert toy_components.is_dir()
    assert component_table(components.contracts()).splitlines() == [
        "| component | what it does | takes | gives | image |",
        "| --- | --- | --- | --- | --- |",
        "| [toy-source](components/toy_source/README.md) | Write numbers. | nothing | numbers | base |",
        "| [toy-sum](components/toy_sum/README.md) | Add numbers up. | numbers, more | total, report | base |",
    ]


def test_the_table_goes_between_its_markers() -> None:
    text = f"# x\n{TABLE_START}\nold\n{TABLE_END}\nrest\n"
    made = with_table(text, "| new |")
    assert made == f"# x\n{TABLE_START}\n| new |\n{TABLE_END}\nrest\n"
    assert with_table(made, "| new |") == made


@pytest.mark.parametrize("text", ["", TABLE_START, TABLE_END + TABLE_START, (TABLE_START + TABLE_END) * 2])
def test_missing_markers_are_told(text: str) -> None:
    with pytest.raises(InputError, match="once each"):
        with_table(text, "")


def test_the_script_checks_and_writes(
    tmp_path: Path, toy_components: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    import readmes

    assert toy_components.is_dir()
    monkeypatch.setattr(readmes, "ROOT", tmp_path)
    for name in ("toy_source", "toy_sum"):
        (tmp_path / "components" / name).mkdir(parents=True)
    (tmp_path / "README.md").write_text(f"{TABLE_START}\n{TABLE_END}\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["readmes.py", "--check"])
    assert readmes.main() == 1
    assert "README.md is stale: run `make docs`" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["readmes.py"])
    assert readmes.main() == 0
    assert readmes.stale() == {}
    assert "# toy-sum" in (tmp_path / "components" / "toy_sum" / "README.md").read_text(encoding="utf-8")
