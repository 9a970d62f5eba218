import importlib.metadata
import math
from pathlib import Path
from typing import Annotated

import pytest

from leakscape import __version__, artifacts
from leakscape.artifacts import Provenance
from leakscape.contract import In, Out, Param, component
from leakscape.errors import ContractError
from leakscape.provenance import provenance


@component(name="toy", image="base")
class Toy:
    """A toy."""

    corpus: Annotated[Path, In("corpus", "A corpus.")]
    adapters: Annotated[tuple[Path, ...], In("adapter", "Adapters.", many=True)]
    seed: Annotated[int, Param("A seed.")] = 7
    rate: Annotated[float, Param("A rate.")] = 0.5
    made: Annotated[Path, Out("total", "Made.")]


def artifact(path: Path, value: int) -> Path:
    with artifacts.create(path, schema="toy/1", provenance=Provenance()) as folder:
        folder.write_json("value.json", value)
    return path


def test_provenance_holds_arguments_digests_and_versions(tmp_path: Path) -> None:
    one, two = artifact(tmp_path / "one", 1), artifact(tmp_path / "two", 2)
    contract = Toy(corpus=one, adapters=(two, one), made=tmp_path / "made")
    made = provenance(contract, libraries=["pydantic"], details={"rows": 3})
    digests = [artifacts.read_manifest(path).digest for path in (one, two)]
    assert made == Provenance(
        component="toy",
        arguments={"seed": 7, "rate": 0.5},
        inputs={"corpus": digests[0], "adapters": [digests[1], digests[0]]},
        versions={"leakscape": __version__, "pydantic": importlib.metadata.version("pydantic")},
        details={"rows": 3},
    )


@pytest.mark.parametrize("rate", [math.inf, -math.inf])
def test_what_no_manifest_can_hold_is_refused_before_the_work(tmp_path: Path, rate: float) -> None:
    contract = Toy(corpus=artifact(tmp_path / "one", 1), adapters=(), made=tmp_path / "made", rate=rate)
    with pytest.raises(ContractError, match="--rate must be finite"):
        provenance(contract)
