"""Pipelines uploaded once for each content, runs begun, listed and waited for."""

import kfp_server
import pytest
import yaml

from leakscape import __version__
from leakscape.errors import InputError, TransientError
from pipelines.client.connection import Connection, connect
from pipelines.client.pipeline import Compiled, upload
from pipelines.client.runs import Settings, listed, start, wait

PLAIN = Settings(parameters={})


def test_equal_content_is_uploaded_once(server: kfp_server.Kubeflow, connection: Connection, made: Compiled):
    first, second = upload(connection, made), upload(connection, made)
    assert (first.new, second.new) == (True, False)
    assert first.version == second.version == f"{__version__}-{made.digest[:12]}"
    assert (first.pipeline_id, first.version_id) == (second.pipeline_id, second.version_id)
    assert server.changes == [("POST", "/pipelines"), ("POST", "/pipelines/upload_version")]
    (version,) = server.versions.values()
    assert version["content"].encode() == made.content
    assert next(yaml.safe_load_all(version["content"]))["pipelineInfo"]["name"] == "leakscape-small"


def test_all_contents_of_a_plan_are_versions_of_one_pipeline(
    server: kfp_server.Kubeflow, connection: Connection, made: Compiled, other: Compiled
):
    one, two, three = (upload(connection, content) for content in (made, other, made))
    assert one.pipeline_id == two.pipeline_id == three.pipeline_id
    assert one.version != two.version
    # The first content came back: it must be the latest again, for schedules run the latest.
    assert three.version == f"{one.version}-2"
    assert not upload(connection, made).new
    assert len(server.versions) == 3
    assert len(server.pipelines) == 1


def test_an_upload_that_broke_off_is_made_up(server: kfp_server.Kubeflow, connection: Connection, made: Compiled):
    server.failures = [0, 0, 0, 503]  # healthz, list, create, upload
    with pytest.raises(TransientError):
        upload(connection, made)
    assert (len(server.pipelines), len(server.versions)) == (1, 0)
    assert upload(connection, made).new
    assert (len(server.pipelines), len(server.versions)) == (1, 1)


def test_a_run_is_of_the_version_with_its_parameters(
    server: kfp_server.Kubeflow, connection: Connection, made: Compiled
):
    settings = Settings(
        parameters={"cpu_pool": {"pool": "big"}}, service_account="runner", pipeline_root="s3://bucket/root"
    )
    uploaded = upload(connection, made)
    run = server.runs[start(connection, uploaded, settings, name="first")]
    start(connection, uploaded, settings, name="second")
    assert run["pipeline_version_reference"] == {
        "pipeline_id": uploaded.pipeline_id,
        "pipeline_version_id": uploaded.version_id,
    }
    assert run["runtime_config"] == {"parameters": {"cpu_pool": {"pool": "big"}}, "pipeline_root": "s3://bucket/root"}
    assert (run["display_name"], run["service_account"]) == ("first", "runner")
    assert [one["display_name"] for one in server.experiments.values()] == ["leakscape"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"gpu_pol": {}}, r"has no parameter gpu_pol; there are .*cpu_pool"),
        ({"cpu_pool": "big"}, "the parameter cpu_pool must be a dict"),
        ({"cpu_tolerations": {}}, "the parameter cpu_tolerations must be a list"),
    ],
)
def test_parameters_are_checked_before_anything_is_sent(made: Compiled, given: dict[str, object], words: str):
    with pytest.raises(InputError, match=words):
        made.checked(given)


def test_runs_are_listed_through_all_pages_the_latest_first(
    server: kfp_server.Kubeflow, connection: Connection, made: Compiled
):
    uploaded = upload(connection, made)
    for number in range(5):
        start(connection, uploaded, PLAIN, name=f"run {number}")
    stranger = server.add("pipelines", "pipeline", display_name="theirs")
    server.add(
        "runs", "run", display_name="theirs", pipeline_version_reference={"pipeline_id": stranger["pipeline_id"]}
    )
    assert [run.name for run in listed(connection)] == [f"run {number}" for number in (4, 3, 2, 1, 0)]
    assert [run.name for run in listed(connection, plan="small", limit=2)] == ["run 4", "run 3"]
    first = listed(connection)[0]
    assert (first.pipeline, first.state, first.created[:10]) == ("leakscape-small", "PENDING", "2026-01-01")
    with pytest.raises(InputError, match="no pipeline leakscape-other"):
        listed(connection, plan="other")


def tasks(**states: str) -> dict[str, object]:
    return {"task_details": [{"display_name": name, "state": state} for name, state in states.items()]}


@pytest.mark.parametrize(
    ("state", "details", "code"),
    [
        ("SUCCEEDED", tasks(enforce="SUCCEEDED"), 0),
        ("FAILED", tasks(landscape="SUCCEEDED", enforce="FAILED"), 3),
        ("FAILED", tasks(scrub="FAILED"), 1),
        ("CANCELED", {}, 1),
    ],
)
def test_waiting_ends_with_the_run_and_its_exit_code(
    server: kfp_server.Kubeflow, connection: Connection, state: str, details: dict[str, object], code: int
):
    run = server.add("runs", "run", state="RUNNING", later={"state": state, "run_details": details})
    slept: list[float] = []
    assert wait(connection, run["run_id"], sleep=slept.append) == (state, code)
    assert len(slept) == 1


def test_a_namespace_is_part_of_everything(made: Compiled):
    with kfp_server.running(multi_user=True) as server:
        teams = [connect({}, endpoint=server.endpoint, namespace=name) for name in ("one", "two")]
        for team in teams:
            start(team, upload(team, made), PLAIN, name="run") if team is teams[0] else None
        assert [one["namespace"] for one in (*server.pipelines.values(), *server.experiments.values())] == [
            "one",
            "one",
        ]
        assert len(listed(teams[0])) == 1
        assert listed(teams[1]) == []


def test_waiting_outlasts_a_server_that_is_away_for_a_while(server: kfp_server.Kubeflow, connection: Connection):
    """The run goes on meanwhile, and a caller that gave up would begin another one."""
    run = server.add("runs", "run", state="RUNNING", later={"state": "SUCCEEDED"})
    server.failures = [503] * 39 + [0] + [500] * 39
    slept: list[float] = []
    assert wait(connection, run["run_id"], sleep=slept.append) == ("SUCCEEDED", 0)
    assert len(slept) == 39 + 1 + 39
    server.failures = [503] * 40
    with pytest.raises(TransientError, match="busy or failing"):
        wait(connection, run["run_id"], sleep=slept.append)
    server.failures = [403]
    with pytest.raises(InputError, match="refuses"):
        wait(connection, run["run_id"], sleep=slept.append)
