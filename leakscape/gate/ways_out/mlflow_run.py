"""Writes a condition's figures into MLflow, as one run."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leakscape.errors import DependencyError, InputError, TransientError

_KEY = "leakscape.landscape"
_CONDITION = "leakscape.condition"
_TARGET = "leakscape.target"


def write_run(
    figures: Mapping[str, float], facts: Mapping[str, str], *, uri: str, experiment: str, files: Sequence[Path]
) -> str:
    """Make a run with figures as metrics, facts as tags and files as artifacts, unless it is there already.

    Args:
        figures: from `leakscape.gate.ways_out.properties`.
        facts: from the same.
        uri: of the tracking server; credentials come by MLflow's own variables.
        experiment: made if there is none of this name.
        files: to keep beside the figures.

    Returns:
        The run's id.

    Raises:
        DependencyError: MLflow is not installed.
        InputError: the server refuses.
        TransientError: the server is away.
    """
    # Read at MLflow's import: an audit reports to nobody but the server that it is told of.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient
    except ModuleNotFoundError:
        raise DependencyError("MLflow needs an extra: pip install 'leakscape[mlflow]'.") from None
    try:
        client = MlflowClient(tracking_uri=uri)
        return _run(client, figures, facts, experiment, files)
    except MlflowException as error:
        if error.error_code in ("INTERNAL_ERROR", "TEMPORARILY_UNAVAILABLE", "REQUEST_LIMIT_EXCEEDED"):
            raise TransientError(f"MLflow did not answer as it should ({error.error_code}); try again.") from None
        raise InputError(f"MLflow refused the run ({error.error_code}); check its address and its rights.") from None


def _run(
    client: Any,  # noqa: ANN401 - MLflow's own type loads all of it
    figures: Mapping[str, float],
    facts: Mapping[str, str],
    experiment: str,
    files: Sequence[Path],
) -> str:
    place = client.get_experiment_by_name(experiment)
    known = place.experiment_id if place else client.create_experiment(experiment)
    wanted = " and ".join(f"tags.`{key}` = '{facts[key]}'" for key in (_KEY, _TARGET, _CONDITION))
    there = client.search_runs([known], filter_string=f"{wanted} and attributes.status = 'FINISHED'", max_results=1)
    if there:
        return str(there[0].info.run_id)
    run = client.create_run(known, tags=dict(facts), run_name=f"{facts[_TARGET]} {facts[_CONDITION]}").info.run_id
    for name, value in figures.items():
        client.log_metric(run, name, value)
    for path in files:
        client.log_artifact(run, str(path))
    client.set_terminated(run)
    return str(run)
