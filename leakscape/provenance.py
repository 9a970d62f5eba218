"""How an artifact was made: arguments, input digests, library versions."""

import importlib.metadata
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from leakscape import __version__
from leakscape.artifacts import Provenance, read_manifest
from leakscape.contract import spec
from leakscape.errors import ContractError


def provenance(
    contract: object, *, libraries: Iterable[str] = (), details: Mapping[str, Any] | None = None
) -> Provenance:
    """Describe a run of a component for the manifests of what it writes.

    Args:
        contract: the instance that `run` was given; its parameters and the digests of its inputs are recorded.
        libraries: distributions whose versions change the result (`torch`, `peft`, ...).
        details: whatever else a reader needs; never a value of a record.

    Raises:
        ContractError: a parameter is infinite, which no manifest can hold.
    """
    contract_spec = spec(contract)
    for field in contract_spec.params:
        value = getattr(contract, field.name)
        if isinstance(value, float) and math.isinf(value):
            raise ContractError(f"{field.flag} must be finite: a manifest is JSON, which has no infinity.")
    inputs: dict[str, Any] = {}
    for field in contract_spec.inputs:
        value = getattr(contract, field.name)
        inputs[field.name] = [_digest(path) for path in value] if isinstance(value, tuple) else _digest(value)
    return Provenance(
        component=contract_spec.name,
        arguments={field.name: getattr(contract, field.name) for field in contract_spec.params},
        inputs=inputs,
        versions={"leakscape": __version__, **{name: importlib.metadata.version(name) for name in sorted(libraries)}},
        details=dict(details or {}),
    )


def _digest(path: Path) -> str:
    return read_manifest(path).digest
