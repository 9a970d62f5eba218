"""A schedule is kept as it is stated."""

from dataclasses import replace

import kfp_server
import pytest

from leakscape.errors import InputError
from pipelines.client.connection import Connection
from pipelines.client.pipeline import Compiled, upload
from pipelines.client.runs import Settings
from pipelines.client.schedules import Schedule, apply, disable, names_of


@pytest.fixture
def schedule(connection: Connection, made: Compiled) -> Schedule:
    uploaded = upload(connection, made)
    settings = Settings(parameters={"cpu_pool": {"size": "4"}, "cpu_tolerations": [{"tolerationSeconds": 30}]})
    return Schedule(name="nightly", pipeline_id=uploaded.pipeline_id, cron="0 0 3 * * *", settings=settings)


def test_applying_twice_changes_nothing(server: kfp_server.Kubeflow, connection: Connection, schedule: Schedule):
    assert apply(connection, schedule) == "created"
    before = list(server.changes)
    assert apply(connection, schedule) == "unchanged"
    assert server.changes == before
    (made,) = server.recurring.values()
    assert made["display_name"] == "cli-nightly"
    # The pipeline and no version: a new version is run without touching the schedule.
    assert made["pipeline_version_reference"] == {"pipeline_id": schedule.pipeline_id}
    assert made["trigger"] == {"cron_schedule": {"cron": "0 0 3 * * *"}}
    assert (made["max_concurrency"], made["no_catchup"], made["status"]) == ("1", True, "ENABLED")


@pytest.mark.parametrize(
    "change",
    [
        {"cron": "0 0 4 * * *"},
        {"settings": Settings(parameters={})},
        {"settings": Settings(parameters={}, service_account="runner")},
        {"max_concurrency": 2},
        {"no_catchup": False},
    ],
)
def test_a_changed_schedule_takes_the_old_ones_place(
    server: kfp_server.Kubeflow, connection: Connection, schedule: Schedule, change: dict[str, object]
):
    apply(connection, schedule)
    (old,) = server.recurring
    assert apply(connection, replace(schedule, **change)) == "updated"  # type: ignore[arg-type]
    (new,) = server.recurring
    assert new != old
    # There is no time without a schedule: the new one is made before the old one goes.
    assert server.changes[-2:] == [("POST", "/recurringruns"), ("DELETE", "/recurringruns/*")]


def test_a_schedule_is_switched_in_place(server: kfp_server.Kubeflow, connection: Connection, schedule: Schedule):
    apply(connection, schedule)
    assert apply(connection, replace(schedule, enabled=False)) == "disabled"
    assert apply(connection, replace(schedule, enabled=False)) == "unchanged"
    assert [one["status"] for one in server.recurring.values()] == ["DISABLED"]
    assert apply(connection, schedule) == "enabled"
    assert len(server.recurring) == 1


def test_what_was_doubled_becomes_one(server: kfp_server.Kubeflow, connection: Connection, schedule: Schedule):
    apply(connection, schedule)
    (first,) = server.recurring.values()
    server.add(
        "recurring", "recurring_run", **{key: value for key, value in first.items() if key != "recurring_run_id"}
    )
    assert apply(connection, schedule) == "unchanged"
    assert list(server.recurring) == [first["recurring_run_id"]]


def test_schedules_of_others_are_left_alone(server: kfp_server.Kubeflow, connection: Connection, schedule: Schedule):
    apply(connection, schedule)
    apply(connection, replace(schedule, owner="cli-nightly"))  # its names begin like ours
    by_hand = server.add("recurring", "recurring_run", display_name="cli-nightly", status="ENABLED", description="mine")
    assert apply(connection, replace(schedule, cron="0 0 5 * * *")) == "updated"
    assert by_hand["recurring_run_id"] in server.recurring
    assert names_of(connection, "cli") == ["cli-nightly"]
    assert disable(connection, "cli", ["cli-nightly", "cli-nightly-nightly"]) == ["cli-nightly"]
    assert by_hand["status"] == "ENABLED"
    assert disable(connection, "cli", ["cli-nightly"]) == []


def test_a_wrong_cron_sends_nothing(server: kfp_server.Kubeflow, connection: Connection, schedule: Schedule):
    before = list(server.requests)
    with pytest.raises(InputError, match="six fields"):
        apply(connection, replace(schedule, cron="0 3 * * *"))
    assert server.requests == before
