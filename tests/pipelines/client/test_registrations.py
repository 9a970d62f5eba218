"""Many plans kept on a server as a file says, checked before anything is sent."""

import json
from collections.abc import Mapping
from pathlib import Path

import kfp_server
import pytest
from plan_fakes import CONTRACTS, PLAN, PUSHED

from leakscape.errors import InputError, PlanError
from pipelines.client.connection import Connection
from pipelines.client.registrations import Registrations, prepare, read, register

HEAD = {"schema": "leakscape/registrations/1", "owner": "team-audits", "images": PUSHED}


def written(folder: Path, *registrations: Mapping[str, object], **head: object) -> Path:
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    listed = [{"plan": str(folder / "plan.yaml"), **one} for one in registrations]
    file = folder / "registrations.yaml"
    content = {**HEAD, **head, "registrations": listed}
    file.write_text(json.dumps(content, indent=2), encoding="utf-8")  # JSON is YAML, without its aliases
    return file


NIGHTLY = {"name": "nightly", "schedule": {"cron": "0 0 2 * * 1-5"}}


def applied(connection: Connection, file: Path) -> dict[str, str]:
    found, source = read(file)
    return {one.name: one.change for one in register(connection, found, prepare(found, source, CONTRACTS))}


def test_a_second_time_nothing_changes(server: kfp_server.Kubeflow, connection: Connection, tmp_path: Path):
    file = written(tmp_path, NIGHTLY, {"name": "by-hand"}, {**NIGHTLY, "name": "off", "refresh": ""})
    assert applied(connection, file) == {"nightly": "created", "by-hand": "unchanged", "off": "created"}
    before = list(server.changes)
    assert applied(connection, file) == {"nightly": "unchanged", "by-hand": "unchanged", "off": "unchanged"}
    assert server.changes == before
    assert len(server.pipelines) == len(server.versions) == 1
    assert sorted(one["display_name"] for one in server.recurring.values()) == [
        "team-audits-nightly",
        "team-audits-off",
    ]


def test_what_the_file_no_longer_lists_is_disabled_and_never_removed(
    server: kfp_server.Kubeflow, connection: Connection, tmp_path: Path
):
    applied(connection, written(tmp_path, NIGHTLY, {**NIGHTLY, "name": "weekly"}))
    assert applied(connection, written(tmp_path, NIGHTLY)) == {"nightly": "unchanged"}
    assert applied(connection, written(tmp_path, NIGHTLY, prune=True)) == {
        "nightly": "unchanged",
        "team-audits-weekly": "disabled",
    }
    assert applied(connection, written(tmp_path, prune=True)) == {"team-audits-nightly": "disabled"}
    assert [one["status"] for one in server.recurring.values()] == ["DISABLED", "DISABLED"]


def test_settings_of_the_file_reach_the_runs(server: kfp_server.Kubeflow, connection: Connection, tmp_path: Path):
    one = {**NIGHTLY, "parameters": {"cpu_pool": {"pool": "big"}}}
    head = {"experiment": "audits", "service_account": "runner", "pipeline_root": "s3://bucket/root"}
    applied(connection, written(tmp_path, one, **head))
    (made,) = server.recurring.values()
    assert made["runtime_config"] == {"parameters": {"cpu_pool": {"pool": "big"}}, "pipeline_root": "s3://bucket/root"}
    assert made["service_account"] == "runner"
    assert [found["display_name"] for found in server.experiments.values()] == ["audits"]


def test_shared_parameters_go_where_there_is_one_of_the_name_and_yield_to_its_own(
    server: kfp_server.Kubeflow, connection: Connection, tmp_path: Path
):
    shared = {"cpu_pool": {"pool": "all"}, "gpu_pool": {"pool": "gpu"}}  # no step of the plan runs on the pool gpu
    own = {**NIGHTLY, "name": "own", "parameters": {"cpu_pool": {"pool": "own"}}}
    applied(connection, written(tmp_path, NIGHTLY, own, parameters=shared))
    given = {one["display_name"]: one["runtime_config"]["parameters"] for one in server.recurring.values()}
    assert given == {
        "team-audits-nightly": {"cpu_pool": {"pool": "all"}},
        "team-audits-own": {"cpu_pool": {"pool": "own"}},
    }


def test_a_changed_plan_is_a_new_version_under_the_same_schedule(
    server: kfp_server.Kubeflow, connection: Connection, tmp_path: Path
):
    applied(connection, written(tmp_path, NIGHTLY))
    (before,) = server.recurring
    assert applied(connection, written(tmp_path, {**NIGHTLY, "set": ["canaries.count=50"]})) == {"nightly": "updated"}
    assert list(server.recurring) == [before]
    assert len(server.versions) == 2


@pytest.mark.parametrize(
    ("registrations", "head", "words"),
    [
        ([{"name": "Nightly"}], {}, r"registrations\.yaml, line \d+: registrations\.0\.name must be a short name"),
        ([NIGHTLY, NIGHTLY], {}, r"registrations\.1\.name is `nightly` like another one"),
        (
            [{"name": "a", "schedule": {"cron": "0 2 * * *"}}],
            {},
            r"registrations\.0\.schedule\.cron does not fit: .*six",
        ),
        ([{"name": "a", "shedule": {}}], {}, r"registrations\.0\.shedule is no key here; did you mean `schedule`\?"),
        ([NIGHTLY], {"pruen": True}, r"pruen is no key here; did you mean `prune`\?"),
        ([NIGHTLY], {"prune": "yes"}, "prune does not fit"),
        ([NIGHTLY], {"schema": "leakscape/registrations/2"}, "schema must be 'leakscape/registrations/1'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(
    tmp_path: Path, registrations: list[Mapping[str, object]], head: dict[str, object], words: str
):
    with pytest.raises(PlanError, match=words):
        read(written(tmp_path, *registrations, **head))


@pytest.mark.parametrize(
    ("registrations", "words"),
    [
        ([{"name": "a", "plan": "nowhere"}], r"line \d+: a: nowhere is neither a file nor the name"),
        ([{"name": "a", "set": ["canaries.cuont=3"]}], "a: --set canaries.cuont"),
        ([{"name": "a", "parameters": {"gpu_pool": {}}}], "a: leakscape-small has no parameter gpu_pool"),
        ([{"name": "a", "refresh": "x"}], "a: leakscape-small has no parameter refresh"),
        (
            [{"name": "a"}, {"name": "b", "set": ["seed=8"]}],
            r"b and a compile to two pipelines of one name, leakscape-small; .*`set: \[name=",
        ),
    ],
)
def test_what_does_not_compile_is_named_before_anything_is_sent(
    tmp_path: Path, registrations: list[Mapping[str, object]], words: str
):
    found, source = read(written(tmp_path, *registrations))
    with pytest.raises(PlanError, match=words):
        prepare(found, source, CONTRACTS)


def test_images_without_a_digest_need_the_word_dev(tmp_path: Path):
    tags = {"images": {**PUSHED, "train": "team/train:1"}}
    found, source = read(written(tmp_path, NIGHTLY, **tags))
    with pytest.raises(InputError, match="the images train have no digest"):
        prepare(found, source, CONTRACTS)
    found, source = read(written(tmp_path, NIGHTLY, dev=True, **tags))
    assert b"team/train:1" in prepare(found, source, CONTRACTS)[0].compiled.content


def test_the_empty_list_is_a_file(tmp_path: Path):
    found, _ = read(written(tmp_path))
    assert isinstance(found, Registrations)
    assert found.registrations == []
