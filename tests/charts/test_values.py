"""The chart's values, without helm: documented, strict, and of one mind with the pipelines."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.placement import Secrets
from pipelines.pods import LABELS

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "leakscape"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))

# Mappings whose keys are the user's: they say by a schema what each value must be, or hand on an object of Kubernetes.
KUBERNETES_OBJECTS = {"affinity", "to", "ports"}


def tool() -> Any:  # noqa: ANN401 - a module
    made = importlib.util.spec_from_file_location("chart_readme", ROOT / "tools" / "chart_readme.py")
    assert made is not None
    assert made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


def objects(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401 - any JSON
    if isinstance(schema, list):
        for entry in schema:
            yield from objects(entry, place)
    elif isinstance(schema, dict):
        if schema.get("type") == "object":
            yield place, schema
        for key, entry in schema.items():
            yield from objects(entry, f"{place}/{key}")


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return {**SCHEMA["definitions"][name], **schema} if name else schema


def test_the_table_of_values_is_fresh():
    page = (CHART / "README.md").read_text(encoding="utf-8")
    wanted = tool().readme(page, (CHART / "values.yaml").read_text(encoding="utf-8"))
    assert page == wanted, "charts/leakscape/README.md is stale: run python tools/chart_readme.py"


def test_every_value_is_described():
    text = (CHART / "values.yaml").read_text(encoding="utf-8")
    described = tool().descriptions(text)
    missing = [".".join(path) for path, _ in tool().leaves(VALUES, described) if not described.get(path)]
    assert missing == []


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("# -- One.\na: 1\n", ["| `a` | `1` | One. |"]),
        ("a:\n  # -- Two\n  # lines.\n  b: x\n", ['| `a.b` | `"x"` | Two lines. |']),
        ("# -- Whole.\na:\n  b: 1\n  c: 2\n", ['| `a` | `{"b": 1, "c": 2}` | Whole. |']),
        ("# -- One.\na: 1\n# a remark\nb: 2\n", ["| `a` | `1` | One. |", "| `b` | `2` |  |"]),
        ("a:\n  # -- In.\n  b: 1\n# -- Out.\nc: 'x|y'\n", ["| `a.b` | `1` | In. |", '| `c` | `"x\\|y"` | Out. |']),
    ],
)
def test_the_table_reads_comments_as_a_person_does(text: str, rows: list[str]):
    assert tool().table(text).splitlines()[2:] == rows


def test_no_object_takes_keys_that_nobody_reads():
    loose = [
        place
        for place, schema in objects(SCHEMA)
        if schema.get("additionalProperties", True) is True and place.rpartition("/")[2] not in KUBERNETES_OBJECTS
        and place.rsplit("/", 2)[1] not in KUBERNETES_OBJECTS
    ]  # fmt: skip
    assert loose == []


def test_schema_and_values_name_the_same():
    def compare(schema: dict[str, Any], values: dict[str, Any], above: str = "") -> Iterator[str]:
        known = resolve(schema)
        if known.get("additionalProperties") is not False:
            return
        for key in sorted(known["properties"].keys() ^ values.keys()):
            yield f"{above}{key}"
        for key in known["properties"].keys() & values.keys():
            if isinstance(values[key], dict):
                yield from compare(known["properties"][key], values[key], f"{above}{key}.")

    assert list(compare(SCHEMA, VALUES)) == []


def test_values_and_pipelines_agree_on_names():
    assert VALUES["networkPolicy"]["stepLabels"] == LABELS
    assert Secrets() == Secrets(
        s3=VALUES["s3"]["existingSecret"], hub=VALUES["secrets"]["hub"], api=VALUES["secrets"]["api"]
    )


def test_every_image_of_the_pipelines_has_its_digest_among_the_values():
    from leakscape.contract import IMAGES

    named = {name for name, entry in VALUES["images"].items() if isinstance(entry, dict)}
    assert named == {*IMAGES, "cli"}
