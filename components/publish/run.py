"""Publishes a verdict: history, files for other systems, model registry, MLflow."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from components.publish.contract import Publish
from leakscape import artifacts, schemas
from leakscape.errors import ArtifactError, ContractError
from leakscape.gate import history
from leakscape.gate.ways_out import mlflow_run, properties, registry, summary
from leakscape.gate.ways_out.junit import junit
from leakscape.gate.ways_out.openmetrics import openmetrics
from leakscape.landscape import schema, verdict
from leakscape.landscape.schema import Landscape
from leakscape.landscape.verdict import Verdict
from leakscape.progress import say
from leakscape.provenance import provenance

LIBRARIES = ("junitparser", "prometheus-client")


def run(contract: Publish) -> None:
    """Write everything down; the gate comes after.

    Raises:
        ArtifactError: an artifact is damaged, or the verdict is on another landscape.
        ContractError: a registry or MLflow is named, but not what to put there.
        InputError: the landscape has no such condition, or a service refuses.
        TransientError: a service is away.
    """
    landscape, found = schema.read(contract.landscape), verdict.read(contract.verdict)
    if artifacts.read_manifest(contract.landscape).digest != found.landscape:
        raise ArtifactError(f"{contract.verdict} is the verdict on another landscape.")
    _check(contract, landscape)
    handed = _handed(contract, landscape, found) if contract.condition else None
    if contract.history:
        _append(contract)
    text = summary.markdown(found)
    with artifacts.create(
        contract.published, schema=schemas.PUBLISHED, provenance=provenance(contract, libraries=LIBRARIES)
    ) as folder:
        for name, content in (
            ("verdict.md", text),
            ("verdict.junit.xml", junit(found)),
            ("figures.openmetrics.txt", openmetrics(landscape, found)),
        ):
            (folder.path / name).write_text(content, encoding="utf-8", newline="\n")
    artifacts.write_file(contract.summary, text)
    if handed is not None:
        _hand_over(contract, *handed)
    say(summary.headline(found))


def _check(contract: Publish, landscape: Landscape) -> None:
    if (contract.registry or contract.mlflow) and not contract.condition:
        raise ContractError("--condition must name the condition whose figures go to --registry or --mlflow.")
    if contract.registry and not (contract.registry_model and contract.registry_version):
        raise ContractError("--registry needs --registry-model and --registry-version.")
    if contract.condition and not contract.target and len(landscape.targets) > 1:
        raise ContractError("--target must name one of the targets: there are several.")


def _append(contract: Publish) -> None:
    """Date and keep what the landscape step made ready."""
    from leakscape.storage import open_place

    date = datetime.now(UTC).isoformat(timespec="seconds")
    artifact = artifacts.load(contract.verdict, schema=schemas.VERDICT)
    with open_place(contract.history) as place:
        for entry in artifact.rows(verdict.ENTRIES, history.Entry):
            new = history.append(place, replace(entry, date=date))
            say(f"{entry.target}: {'added to the history' if new else 'in the history already'}")


def _handed(contract: Publish, landscape: Landscape, found: Verdict) -> tuple[dict[str, float], dict[str, str]]:
    """Figures and facts of the condition, looked for before anything is written."""
    place = contract.target or landscape.targets[0].name, contract.condition
    return properties.figures(landscape, *place), properties.facts(landscape, found, *place)


def _hand_over(contract: Publish, figures: dict[str, float], facts: dict[str, str]) -> None:
    if contract.registry:
        registry.write_properties(
            {**facts, **figures},
            address=contract.registry,
            model=contract.registry_model,
            version=contract.registry_version,
            token=os.environ.get(contract.registry_token_variable, ""),
        )
        say(f"figures written to version {contract.registry_version} in the model registry")
    if contract.mlflow:
        files = [Path(contract.landscape) / schema.FILE, contract.published / "verdict.md"]
        mlflow_run.write_run(figures, facts, uri=contract.mlflow, experiment=contract.mlflow_experiment, files=files)
        say(f"figures written to the MLflow experiment {contract.mlflow_experiment}")
