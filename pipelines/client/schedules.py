"""Recurring runs, kept as they are stated: made, left, switched, replaced; applying one twice changes nothing.

A schedule names its pipeline and no version, so that it runs the latest one. The server can't change a recurring run,
so another one is made before the old one is removed.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from pipelines.client import cron
from pipelines.client.connection import Connection
from pipelines.client.runs import Settings, experiment_id

Change = Literal["created", "updated", "unchanged", "disabled", "enabled"]

MINE = "cli"
"""The owner of schedules that are made by hand."""

_ENABLED, _DISABLED = "ENABLED", "DISABLED"


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When a pipeline is run.

    Args:
        name: of the schedule; with the owner's, the recurring run's.
        pipeline_id: whose latest version is run.
        cron: six fields; see `pipelines.client.cron`.
        settings: of each run.
        owner: who keeps it.
        enabled: whether it runs.
        max_concurrency: runs at once.
        no_catchup: whether times that were missed stay missed.
    """

    name: str
    pipeline_id: str
    cron: str
    settings: Settings
    owner: str = MINE
    enabled: bool = True
    max_concurrency: int = 1
    no_catchup: bool = True

    @property
    def display_name(self) -> str:
        """The recurring run's name."""
        return f"{self.owner}-{self.name}"


def apply(connection: Connection, schedule: Schedule) -> Change:
    """See that the server has exactly this schedule.

    Raises:
        InputError: the schedule's cron does not fit, or the server refuses.
    """
    expression = cron.check(schedule.cron)
    own = [found for found in _of(connection, schedule.owner) if found.display_name == schedule.display_name]
    same = [found for found in own if _content(found) == _wanted(schedule, expression)]
    if not same:
        _create(connection, schedule, expression)
        _delete(connection, own)
        return "updated" if own else "created"
    _delete(connection, [found for found in own if found is not same[0]])
    return _switch(connection, same[0], enabled=schedule.enabled)


def disable(connection: Connection, owner: str, names: Collection[str]) -> list[str]:
    """Switch off recurring runs of an owner by name, and give the names of those that were on."""
    named = [found for found in _of(connection, owner) if found.display_name in names]
    return [str(found.display_name) for found in named if _switch(connection, found, enabled=False) == "disabled"]


def names_of(connection: Connection, owner: str) -> list[str]:
    """The names of an owner's recurring runs."""
    return sorted({str(found.display_name) for found in _of(connection, owner)})


def _of(connection: Connection, owner: str) -> list[Any]:
    """The recurring runs that carry an owner's mark, the oldest first."""
    found = connection.all(
        "recurring_run", "list_recurring_runs", "recurring_runs", namespace=connection.user, sort_by="created_at asc"
    )
    prefix, mark = f"{owner}-", _mark(owner)
    return [run for run in found if (run.display_name or "").startswith(prefix) and mark in (run.description or "")]


def _mark(owner: str) -> str:
    return f"Kept by leakscape for [{owner}]; changes made here are overwritten."


def _content(found: Any) -> dict[str, Any]:  # noqa: ANN401 - a generated class without types
    """What a recurring run says, as `_wanted` says it; whether it is switched on is another matter."""
    reference, runtime = found.pipeline_version_reference, found.runtime_config
    schedule = found.trigger.cron_schedule if found.trigger else None
    return {
        "pipeline": [reference.pipeline_id, reference.pipeline_version_id or ""] if reference else [],
        "cron": schedule.cron if schedule else "",
        "parameters": _plain((runtime.parameters if runtime else None) or {}),
        "root": (runtime.pipeline_root if runtime else "") or "",
        "account": found.service_account or "",
        "concurrency": int(found.max_concurrency or 0),
        "catchup": not found.no_catchup,
    }


def _wanted(schedule: Schedule, expression: str) -> dict[str, Any]:
    return {
        "pipeline": [schedule.pipeline_id, ""],
        "cron": expression,
        "parameters": _plain(dict(schedule.settings.parameters)),
        "root": schedule.settings.pipeline_root,
        "account": schedule.settings.service_account,
        "concurrency": schedule.max_concurrency,
        "catchup": not schedule.no_catchup,
    }


def _plain(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """JSON in one form; the server carries whole numbers as doubles."""
    return json.dumps(_whole(value), sort_keys=True)


def _whole(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _create(connection: Connection, schedule: Schedule, expression: str) -> None:
    import kfp_server_api

    wanted = kfp_server_api.V2beta1RecurringRun(
        display_name=schedule.display_name,
        description=_mark(schedule.owner),
        experiment_id=experiment_id(connection, schedule.settings.experiment),
        namespace=connection.user or None,
        pipeline_version_reference=kfp_server_api.V2beta1PipelineVersionReference(pipeline_id=schedule.pipeline_id),
        runtime_config=schedule.settings.runtime,
        service_account=schedule.settings.service_account or None,
        trigger=kfp_server_api.V2beta1Trigger(cron_schedule=kfp_server_api.V2beta1CronSchedule(cron=expression)),
        mode=kfp_server_api.RecurringRunMode.ENABLE if schedule.enabled else kfp_server_api.RecurringRunMode.DISABLE,
        max_concurrency=str(schedule.max_concurrency),
        no_catchup=schedule.no_catchup,
    )
    connection.ask("recurring_run", "create_recurring_run", wanted)


def _delete(connection: Connection, runs: Collection[Any]) -> None:
    for found in runs:
        connection.ask("recurring_run", "delete_recurring_run", found.recurring_run_id)


def _switch(connection: Connection, found: Any, *, enabled: bool) -> Change:  # noqa: ANN401
    if (found.status == _ENABLED) == enabled:
        return "unchanged"
    method = "enable_recurring_run" if enabled else "disable_recurring_run"
    connection.ask("recurring_run", method, found.recurring_run_id)
    return "enabled" if enabled else "disabled"
