import json
from pathlib import Path
from typing import Annotated, Any

import pytest

from leakscape import artifacts, executor
from leakscape.artifacts import Provenance
from leakscape.contract import Out, component
from leakscape.errors import ArtifactError, ContractError, LeakscapeError


@component(name="toy", image="base")
class Toy:
    """A toy."""

    corpus: Annotated[Path, Out("corpus", "A folder.")]
    page: Annotated[Path, Out("html", "A page.")]
    numbers: Annotated[Path, Out("metrics", "Numbers.")]


def finished(folder: Path) -> Toy:
    with artifacts.create(folder / "corpus", schema="toy/1", provenance=Provenance()) as made:
        made.write_rows("records.jsonl", [{"id": "a"}, {"id": "b"}])
    (folder / "page").write_text("<p>", encoding="utf-8")
    (folder / "numbers").write_text('{"epsilon": 8.0}', encoding="utf-8")
    return Toy(corpus=folder / "corpus", page=folder / "page", numbers=folder / "numbers")


def given_input(folder: Path) -> dict[str, Any]:
    names = ("corpus", "page", "numbers")
    return {
        "outputs": {
            "artifacts": {
                name: {"artifacts": [{"name": f"run/{name}", "uri": f"s3://bucket/{name}", "type": {}}]}
                for name in names
            },
            "outputFile": str(folder / "deep" / "executor_output.json"),
        }
    }


def test_uris_are_echoed_and_every_output_is_listed(tmp_path: Path) -> None:
    contract = finished(tmp_path)
    executor.write_executor_output(contract, given_input(tmp_path))
    written = json.loads((tmp_path / "deep" / "executor_output.json").read_text(encoding="utf-8"))
    found = {name: entry["artifacts"][0] for name, entry in written["artifacts"].items()}
    assert {name: entry["uri"] for name, entry in found.items()} == {
        name: f"s3://bucket/{name}" for name in ("corpus", "page", "numbers")
    }
    assert found["corpus"]["name"] == "run/corpus"
    digest = artifacts.read_manifest(contract.corpus).digest
    assert found["corpus"]["metadata"] == {"schema": "toy/1", "digest": digest, "records": 2}
    assert found["numbers"]["metadata"] == {"epsilon": 8.0}
    assert found["page"]["metadata"] == {"sha256": artifacts.hash_file(contract.page)}


def test_an_output_that_was_not_written_is_a_fault(tmp_path: Path) -> None:
    contract = finished(tmp_path)
    contract.page.unlink()
    with pytest.raises(LeakscapeError, match="ended without writing --page"):
        executor.executor_output(contract, given_input(tmp_path))


@pytest.mark.parametrize("text", ['{"epsilon": NaN}', "[1]"])
def test_metrics_hold_numbers_only(tmp_path: Path, text: str) -> None:
    """kubeflow/pipelines#12227: NaN in Metrics kills the step."""
    contract = finished(tmp_path)
    contract.numbers.write_text(text, encoding="utf-8")
    with pytest.raises(ArtifactError):
        executor.executor_output(contract, given_input(tmp_path))


def test_an_output_without_a_place_is_refused(tmp_path: Path) -> None:
    wanted = given_input(tmp_path)
    del wanted["outputs"]["artifacts"]["page"]
    with pytest.raises(ContractError, match="no place for the output page"):
        executor.executor_output(finished(tmp_path), wanted)


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"outputs": {}}'])
def test_what_is_no_executor_input_is_refused(text: str) -> None:
    with pytest.raises(ContractError, match="--executor-input must be the JSON"):
        executor.read_executor_input(text)
