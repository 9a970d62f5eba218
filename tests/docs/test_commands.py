"""The commands of the how-tos, run as a reader would: page by page, in order, in a folder of their own.

A page marks what runs by an HTML comment on the line before a fenced block:

    <!-- file audits.yaml -->   the block is written to that file
    <!-- run -->                the block is run by bash, which stops at the first command that fails
    <!-- run 2 -->              the same, and the last command must end with that exit code
    <!-- given hospital.yaml --> stands alone: audits/NAME of that plan is there, with made-up measurements

In a `console` block the lines after `$ ` are the commands, and the others must be what they print; `...` stands for any
lines between. Commands see charts/, manifests/ and docs/ of the checkout (copies), and the programs of both
environments; no cluster and no network.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from audit_given import give
from checks import BIN, ROOT
from pages import Block, blocks

COPIED = ("charts", "manifests", "docs")


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that it must print."""
    if block.language != "console":
        return [(block.text, [])]
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        else:
            found[-1][1].append(line)
    return found


def printed(wanted: list[str], output: str) -> bool:
    """Whether output is the wanted lines; `...` stands for any lines."""
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + " *\n" for line in wanted)
    return not wanted or re.fullmatch(pattern, output) is not None


def run_page(page: str, folder: Path) -> None:
    """Do what the marked blocks of a page say."""
    for block in blocks(page):
        if block.kind == "file":
            (folder / block.argument).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.argument).write_text(block.text, encoding="utf-8")
            continue
        if block.kind == "given":
            give(folder / block.argument)
            continue
        found = commands(block)
        for number, (command, wanted) in enumerate(found, start=1):
            done = bash(command, folder)
            code = int(block.argument or 0) if number == len(found) else 0
            where = f"line {block.line}: {command}\nprinted:\n{done.stdout}\n{done.stderr}"
            assert done.returncode == code, where
            assert printed(wanted, done.stdout + (done.stderr if code else "")), where


def bash(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{BIN}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "COLUMNS": "120"}
    program = ["bash", "-euo", "pipefail", "-c", command]
    return subprocess.run(program, cwd=folder, env=environment, check=False, capture_output=True, text=True)


PAGES = [path for path in sorted(ROOT.glob("docs/**/*.md")) if blocks(path.read_text(encoding="utf-8"))]


@pytest.mark.integration
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path):
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name)
    run_page(page.read_text(encoding="utf-8"), tmp_path)


def test_every_marker_stands_before_a_block():
    for path in sorted(ROOT.glob("docs/**/*.md")):
        text = path.read_text(encoding="utf-8")
        assert len(re.findall(r"^<!-- (?:run|file|given)\b", text, re.MULTILINE)) == len(blocks(text)), path


def test_the_how_tos_of_the_cluster_are_among_the_pages():
    names = {path.stem for path in PAGES}
    assert {"install", "irsa", "gpu-pools", "spot", "private-registry", "run-on-kubeflow"} <= names
    assert {"bring-your-own-records", "read-a-verdict", "gate-in-ci", "recurring-audits"} <= names


def test_files_of_the_pages_are_valid():
    for path in PAGES:
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.kind == "file" and block.language in ("yaml", "json"):
                assert isinstance(yaml.safe_load(block.text), dict), (path, block.line)


def page(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def test_blocks_run_in_order_in_one_folder(tmp_path: Path):
    text = page("<!-- file a.txt -->", "```text", "one", "```", "<!-- run -->", "```sh", "cat a.txt > b.txt", "```")
    run_page(text, tmp_path)
    assert (tmp_path / "b.txt").read_text(encoding="utf-8") == "one\n"


@pytest.mark.parametrize(
    "lines",
    [
        ("<!-- run -->", "```sh", "false", "true", "```"),
        ("<!-- run -->", "```sh", "false | true", "```"),
        ("<!-- run -->", "```console", "$ echo one", "two", "```"),
        ("<!-- run -->", "```console", "$ echo one", "one", "two", "```"),
        ("<!-- run 2 -->", "```sh", "exit 3", "```"),
        ("<!-- run 2 -->", "```sh", "true", "```"),
    ],
)
def test_what_does_not_hold_is_found(lines: tuple[str, ...], tmp_path: Path):
    with pytest.raises(AssertionError, match="line 1"):
        run_page(page(*lines), tmp_path)


@pytest.mark.parametrize(
    "lines",
    [
        ("<!-- run -->", "```console", "$ printf 'one\\ntwo\\nthree\\n'", "one", "...", "three", "$ true", "```"),
        ("<!-- run -->", "```console", "$ echo one \\", "    two", "one two", "```"),
        ("<!-- run 2 -->", "```console", "$ echo one; exit 2", "one", "```"),
        ("```sh", "false", "```"),
    ],
)
def test_what_holds_passes(lines: tuple[str, ...], tmp_path: Path):
    run_page(page(*lines), tmp_path)
