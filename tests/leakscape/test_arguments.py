import dataclasses
import shlex
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscape import arguments
from leakscape.contract import In, Out, Param, component, spec
from leakscape.errors import ContractError


@component(name="toy-train", image="train")
class Toy:
    """Train a toy."""

    corpus: Annotated[Path, In("corpus", "Records, 100% of them.")]
    adapters: Annotated[tuple[Path, ...], In("adapter", "Adapters.", many=True)]
    target: Annotated[str, Param("Model to attack.", required=True)]
    epochs: Annotated[int, Param("Passes.", low=1)] = 2
    rate: Annotated[float, Param("Learning rate.", above=0)] = 1e-3
    mode: Annotated[str, Param("How.", choices=("fast", "slow"))] = "fast"
    frozen: Annotated[bool, Param("Whether.")] = True
    note: Annotated[str, Param("Anything.")] = ""
    sizes: Annotated[list[int], Param("Sizes.")] = dataclasses.field(default_factory=lambda: [1, 4])
    extra: Annotated[dict[str, Any], Param("Extra.")] = dataclasses.field(default_factory=dict)
    adapter: Annotated[Path, Out("adapter", "Weights.")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("inputs")
    for name in ("corpus", "one", "two"):
        (made / name).mkdir()
    return made


def read(folder: Path, *argv: str) -> Toy:
    given_paths = ["--corpus", str(folder / "corpus"), "--adapter", str(folder / "made"), "--target=tiny"]
    return arguments.read(Toy, [*given_paths, *argv])[0]


def test_defaults_hold_where_nothing_is_given(folder: Path) -> None:
    assert read(folder) == Toy(corpus=folder / "corpus", adapters=(), target="tiny", adapter=folder / "made")


def test_every_type_is_read(folder: Path) -> None:
    made = read(
        folder,
        *("--adapters", str(folder / "one"), str(folder / "two")),
        *("--epochs", "3", "--rate", "0.5", "--mode", "slow", "--frozen", "false"),
        *("--note=--dashes", "--sizes", "[2, 8]", "--extra", '{"a": [1]}'),
    )
    assert made.adapters == (folder / "one", folder / "two")
    assert (made.epochs, made.rate, made.mode, made.frozen) == (3, 0.5, "slow", False)
    assert (made.note, made.sizes, made.extra) == ("--dashes", [2, 8], {"a": [1]})


@pytest.mark.parametrize("flag", ["epochs", "rate", "mode", "frozen", "note", "sizes", "extra"])
def test_a_blank_field_of_the_kfp_form_means_the_default(folder: Path, flag: str) -> None:
    """kubeflow/pipelines#11667, #4562: a blank field arrives as the empty string."""
    assert read(folder, f"--{flag}=") == read(folder)
    assert read(folder, f"--{flag}", "") == read(folder)


@given(st.text())
def test_any_text_reaches_the_component(folder: Path, text: str) -> None:
    assert read(folder, f"--note={text}").note == text


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--target="], "--target must be given: Model to attack."),
        (["--epochs", "two"], "--epochs takes a whole number: 'two' is none."),
        (["--epochs", "0"], "--epochs must be at least 1, not 0."),
        (["--epoch", "3"], "takes no argument --epoch;"),
        (["--name=John Smith"], "takes no argument --name;"),
        (["John Smith"], "takes no arguments without a flag;"),
        (["--epochs"], "expected one argument"),
        (["--adapters", "nowhere"], "--adapters: nowhere does not exist."),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(folder: Path, argv: list[str], sentence: str) -> None:
    with pytest.raises(ContractError) as raised:
        read(folder, *argv)
    assert sentence in str(raised.value)
    assert "John" not in str(raised.value)


def test_artifacts_must_be_given() -> None:
    with pytest.raises(ContractError, match=r"--corpus must be given: Records, 100% of them\."):
        arguments.read(Toy, ["--target=x"])


def test_one_path_for_two_things_is_refused(folder: Path) -> None:
    """locuslab/open-unlearning#19: one file given for two arguments made a score that was always 1."""
    with pytest.raises(ContractError, match="--corpus and --adapters name the same path"):
        read(folder, "--adapters", str(folder / "one" / ".." / "corpus"))


@pytest.mark.parametrize("inside", ["corpus/made", "corpus/deep/made"])
def test_an_output_inside_another_artifact_is_refused(folder: Path, inside: str) -> None:
    argv = ["--corpus", str(folder / "corpus"), "--adapter", str(folder / inside), "--target=x"]
    with pytest.raises(ContractError, match="--adapter lies inside --corpus; each artifact needs a folder"):
        arguments.read(Toy, argv)


def test_help_shows_every_field_with_default_limits_and_an_example() -> None:
    text = arguments.parser(spec(Toy)).format_help()
    words = " ".join(text.split())
    assert "--corpus PATH Records, 100% of them." in words
    assert "--adapters [PATH ...] Adapters." in words
    assert "--target TEXT Model to attack. (must be given)" in words
    assert "--epochs N Passes. (at least 1; default 2)" in words
    assert "--rate X Learning rate. (above 0; default 0.001)" in words
    assert "--mode TEXT How. (one of fast, slow; default fast)" in words
    assert "--frozen true|false Whether. (default true)" in words
    assert "--sizes JSON Sizes. (default [1, 4])" in words
    assert arguments.example(spec(Toy)) in text


def test_the_example_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(arguments.example(spec(Toy)))
    for word in words:
        if word.startswith("given/"):
            Path(word).mkdir(parents=True)
    assert words[:2] == ["leakscape", "toy-train"]
    made = arguments.read(Toy, words[2:])[0]
    assert made.adapters == (Path("given/adapters-1"), Path("given/adapters-2"))
    assert made.target == "TARGET"


def test_executor_input_is_handed_on(folder: Path) -> None:
    argv = ["--corpus", str(folder / "corpus"), "--adapter", "made", "--target=x", "--executor-input", "{}"]
    assert arguments.read(Toy, argv)[1] == "{}"


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": [Infinity]}', "{", "[]", "5"])
def test_what_is_no_dictionary_of_json_is_refused(folder: Path, text: str) -> None:
    with pytest.raises(ContractError, match="--extra takes a JSON dictionary"):
        read(folder, "--extra", text)
