"""Runs: begun, listed, waited for."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leakscape.errors import EXIT_DONE, EXIT_FAULT, EXIT_GATE, InputError, TransientError
from pipelines.client.connection import Connection
from pipelines.client.pipeline import Uploaded, equal
from pipelines.parameters import ENFORCE

EXPERIMENT = "leakscape"
PREFIX = "leakscape-"

SUCCEEDED, FAILED = "SUCCEEDED", "FAILED"
ENDED = frozenset({SUCCEEDED, FAILED, "SKIPPED", "CANCELED"})
_POLL = 15.0  # seconds
_PATIENCE = 40  # polls without an answer: ten minutes, in which a server is upgraded or a node replaced


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a pipeline is run, once or by a schedule.

    Args:
        parameters: values of the pipeline's parameters; those left out keep their defaults.
        service_account: of the pods; '' for the server's default.
        pipeline_root: where artifacts go; '' for the server's default.
        experiment: the runs' group in the UI; made if it is not there.
    """

    parameters: Mapping[str, Any]
    service_account: str = ""
    pipeline_root: str = ""
    experiment: str = EXPERIMENT

    @property
    def runtime(self) -> Any:  # noqa: ANN401 - a generated class without types
        """As the server takes it."""
        import kfp_server_api

        return kfp_server_api.V2beta1RuntimeConfig(
            parameters=dict(self.parameters), pipeline_root=self.pipeline_root or None
        )


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run as lists show it; times are ISO 8601 in UTC, '' where they are not known."""

    id: str
    name: str
    pipeline: str
    state: str
    created: str
    finished: str


def experiment_id(connection: Connection, name: str) -> str:
    """The id of the experiment of this name, which is made if it is not there."""
    import kfp_server_api

    named = connection.all(
        "experiment", "list_experiments", "experiments", namespace=connection.user, filter=equal("display_name", name)
    )
    for found in named:
        if found.display_name == name:
            return str(found.experiment_id)
    wanted = kfp_server_api.V2beta1Experiment(display_name=name, namespace=connection.user or None)
    return str(connection.ask("experiment", "create_experiment", wanted).experiment_id)


def start(connection: Connection, uploaded: Uploaded, settings: Settings, *, name: str) -> str:
    """Begin a run of a version, and give its id."""
    import kfp_server_api

    wanted = kfp_server_api.V2beta1Run(
        display_name=name,
        experiment_id=experiment_id(connection, settings.experiment),
        pipeline_version_reference=kfp_server_api.V2beta1PipelineVersionReference(
            pipeline_id=uploaded.pipeline_id, pipeline_version_id=uploaded.version_id
        ),
        runtime_config=settings.runtime,
        service_account=settings.service_account or None,
    )
    return str(connection.ask("run", "create_run", wanted).run_id)


def listed(connection: Connection, *, plan: str = "", limit: int = 20) -> list[Run]:
    """The latest runs of a plan's pipeline, or of all of ours, the latest first."""
    names = {
        found.pipeline_id: found.display_name
        for found in connection.all("pipeline", "list_pipelines", "pipelines", namespace=connection.user)
        if (found.display_name == f"{PREFIX}{plan}" if plan else str(found.display_name).startswith(PREFIX))
    }
    if plan and not names:
        raise InputError(f"the server has no pipeline {PREFIX}{plan}; submit or schedule the plan first.")
    found: list[Run] = []
    for run in _all_runs(connection):
        reference = run.pipeline_version_reference
        if reference is not None and reference.pipeline_id in names:
            found.append(_told(run, names[reference.pipeline_id]))
        if len(found) == limit:
            break
    return found


def _all_runs(connection: Connection) -> Iterator[Any]:
    return connection.all("run", "list_runs", "runs", namespace=connection.user, sort_by="created_at desc")


def _told(run: Any, pipeline: str) -> Run:  # noqa: ANN401
    return Run(
        id=run.run_id,
        name=run.display_name,
        pipeline=pipeline,
        state=str(run.state or "UNKNOWN"),
        created=run.created_at.isoformat() if run.created_at else "",
        # The server's zero time stands for none.
        finished=run.finished_at.isoformat() if run.finished_at and run.finished_at.year > 1970 else "",  # noqa: PLR2004
    )


def wait(connection: Connection, run_id: str, *, sleep: Callable[[float], None] = time.sleep) -> tuple[str, int]:
    """Wait for a run to end, and give its state and the exit code that this is: 3 where the gate failed.

    A run goes on while its server is away, so that an answer that fails to come is waited for.

    Raises:
        InputError: the server refuses.
        TransientError: no answer came for ten minutes.
    """
    missed = 0
    while True:
        try:
            run = connection.ask("run", "get_run", run_id)
        except TransientError:
            missed += 1
            if missed == _PATIENCE:
                raise
        else:
            missed = 0
            if str(run.state) in ENDED:
                return str(run.state), EXIT_DONE if run.state == SUCCEEDED else _exit_code(run)
        sleep(_POLL)


def _exit_code(run: Any) -> int:  # noqa: ANN401
    tasks = (run.run_details.task_details or []) if run.run_details else []
    failed = {task.display_name for task in tasks if task.state == FAILED}
    return EXIT_GATE if ENFORCE in failed else EXIT_FAULT
