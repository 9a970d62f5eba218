import dataclasses
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from kfp import compiler, dsl
from kfp.dsl.types.type_utils import InconsistentTypeException

from leakscape.contract import In, Out, Param, component
from leakscape.kubeflow import artifact_class, input_names, kfp_component

IMAGE = "registry.example/train@sha256:" + "0" * 64


@component(name="toy-train", image="train")
class Toy:
    """Train a toy: quickly."""

    corpus: Annotated[Path, In("corpus", "Records: all of them.")]
    adapters: Annotated[tuple[Path, ...], In("adapter", "Adapters.", many=True)]
    target: Annotated[str, Param("Model to\n    attack.", required=True)]
    epochs: Annotated[int, Param("Passes.", low=1)] = 2
    rate: Annotated[float, Param("Learning rate.", above=0)] = 5e-5
    note: Annotated[str, Param("Anything.")] = ""
    frozen: Annotated[bool, Param("Whether.")] = False
    sizes: Annotated[list[int], Param("Sizes.")] = dataclasses.field(default_factory=lambda: [1, 4])
    extra: Annotated[dict[str, Any], Param("Extra.")] = dataclasses.field(default_factory=dict)
    adapter: Annotated[Path, Out("adapter", "Trained weights.")]
    report: Annotated[Path, Out("html", "A page.")]
    roc: Annotated[Path, Out("classification_metrics", "A curve.")]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    made = kfp_component(Toy, image=IMAGE, counts={"adapters": 2})
    path = tmp_path_factory.mktemp("yaml") / "toy.yaml"
    compiler.Compiler().compile(made, str(path))
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_inputs_keep_type_default_and_description(compiled: dict[str, Any]) -> None:
    found = compiled["root"]["inputDefinitions"]
    assert found["parameters"]["target"] == {"description": "Model to attack.", "parameterType": "STRING"}
    defaults = {
        name: (entry["parameterType"], entry.get("defaultValue")) for name, entry in found["parameters"].items()
    }
    assert defaults == {
        "target": ("STRING", None),
        "epochs": ("NUMBER_INTEGER", 2),
        "rate": ("NUMBER_DOUBLE", 5e-5),
        "note": ("STRING", ""),
        "frozen": ("BOOLEAN", False),
        "sizes": ("LIST", [1, 4]),
        "extra": ("STRUCT", {}),
    }
    kinds = {
        name: (entry["artifactType"]["schemaTitle"], entry["description"]) for name, entry in found["artifacts"].items()
    }
    assert kinds == {
        "corpus": ("system.Dataset", "Records: all of them."),
        "adapters_1": ("system.Model", "Adapters."),
        "adapters_2": ("system.Model", "Adapters."),
    }


def test_every_output_is_described(compiled: dict[str, Any]) -> None:
    found = compiled["components"]["comp-toy-train"]["outputDefinitions"]["artifacts"]
    kinds = {name: (entry["artifactType"]["schemaTitle"], entry["description"]) for name, entry in found.items()}
    assert kinds == {
        "adapter": ("system.Model", "Trained weights."),
        "report": ("system.HTML", "A page."),
        "roc": ("system.ClassificationMetrics", "A curve."),
    }


def test_the_command_line_is_the_users(compiled: dict[str, Any]) -> None:
    container = compiled["deploymentSpec"]["executors"]["exec-toy-train"]["container"]
    assert container["image"] == IMAGE
    assert container["command"] == ["leakscape", "toy-train"]
    assert container["args"] == [
        *(f"--{name}={{{{$.inputs.parameters['{name}']}}}}" for name in ("target", "epochs", "rate", "note", "frozen")),
        *(f"--{name}={{{{$.inputs.parameters['{name}']}}}}" for name in ("sizes", "extra")),
        *("--corpus", "{{$.inputs.artifacts['corpus'].path}}", "--adapters"),
        *("{{$.inputs.artifacts['adapters_1'].path}}", "{{$.inputs.artifacts['adapters_2'].path}}"),
        *("--adapter", "{{$.outputs.artifacts['adapter'].path}}"),
        *("--report", "{{$.outputs.artifacts['report'].path}}"),
        *("--roc", "{{$.outputs.artifacts['roc'].path}}"),
        *("--executor-input", "{{$}}"),
    ]


def test_no_many_input_is_left_when_none_is_given() -> None:
    made = kfp_component(Toy, image=IMAGE)
    assert "adapters" not in " ".join(made.component_spec.inputs)
    assert made.description == "Train a toy: quickly."


def test_kinds_fit_between_components() -> None:
    """KFP checks artifact classes when it compiles: an adapter is no corpus."""
    train = kfp_component(Toy, image=IMAGE)

    with pytest.raises(InconsistentTypeException, match="Incompatible argument"):

        @dsl.pipeline(name="toy")
        def _pipeline() -> None:
            corpus = dsl.importer(artifact_uri="s3://bucket/corpus", artifact_class=dsl.Dataset).output
            made = train(corpus=corpus, target="tiny")
            train(corpus=made.outputs["adapter"], target="tiny")


@pytest.mark.parametrize("counts", [{"corpus": 1}, {"other": 1}, {"adapters": -1}])
def test_wrong_counts_are_refused(counts: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="toy-train"):
        kfp_component(Toy, image=IMAGE, counts=counts)


def test_input_names() -> None:
    corpus, adapters = Toy.__leakscape_spec__.inputs
    assert input_names(corpus, 5) == ["corpus"]
    assert input_names(adapters, 2) == ["adapters_1", "adapters_2"]
    assert input_names(adapters, 0) == []


def test_unknown_kinds_are_plain_artifacts() -> None:
    assert artifact_class("ledger") is dsl.Artifact
    assert artifact_class("metrics") is dsl.Metrics
