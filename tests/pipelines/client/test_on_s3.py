"""Preflight, fetch and finish against a real S3 server."""

from pathlib import Path
from typing import Any

import kfp_server
import pytest
from s3_server import S3Server

from components.finish.contract import Finish
from components.finish.run import run as finish
from leakscape import artifacts
from leakscape.errors import InputError
from leakscape.preflight import checks
from pipelines.client.connection import Connection
from pipelines.client.fetch import results

pytestmark = pytest.mark.integration


def test_a_bucket_is_written_read_and_left_as_it_was(s3: S3Server):
    place = s3.place("preflight")
    assert checks.place(place) == "an object was written, read and removed."
    assert s3.keys(place) == []


def test_a_bucket_that_may_only_be_read_is_told_before_anything_is_trained(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
):
    key, secret = s3.reader
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    with pytest.raises(InputError, match="access denied for PutObject") as raised:
        checks.place(s3.place("preflight"))
    assert secret not in str(raised.value)


def test_results_come_home_from_a_bucket(
    s3: S3Server, server: kfp_server.Kubeflow, connection: Connection, tmp_path: Path
):
    root = s3.place("root")
    pipeline = server.add("pipelines", "pipeline", display_name="leakscape-small")
    config: dict[str, Any] = {"pipeline_root": root.replace("s3://", "minio://")}
    reference = {"pipeline_id": pipeline["pipeline_id"]}
    run = server.add("runs", "run", state="FAILED", pipeline_version_reference=reference, runtime_config=config)
    with artifacts.create(
        tmp_path / "made", schema="leakscape/landscape/1", provenance=artifacts.Provenance()
    ) as folder:
        folder.write_json("landscape.json", {"is": "landscape"})
    # As KFP's launcher lays it out, without any note of ours beside the objects.
    prefix = f"{root.removeprefix(f's3://{s3.bucket}/')}/leakscape-small/{run['run_id']}/landscape/e1"
    for path in (tmp_path / "made").iterdir():
        s3.client().put_object(Bucket=s3.bucket, Key=f"{prefix}/landscape/{path.name}", Body=path.read_bytes())
    s3.client().put_object(Bucket=s3.bucket, Key=f"{prefix}/report", Body=b"<html></html>")
    found = results(connection, run["run_id"], tmp_path / "out", {})
    assert sorted(path.name for path in found) == ["landscape.json", "report.html"]


def test_an_upload_of_a_moment_ago_is_not_cleared_away(s3: S3Server, tmp_path: Path):
    place = s3.place("finish")
    key = f"{place.removeprefix(f's3://{s3.bucket}/')}/large"
    upload = s3.client().create_multipart_upload(Bucket=s3.bucket, Key=key)["UploadId"]
    finish(Finish(status={"state": "FAILED"}, places=[place], outcome=tmp_path / "outcome.md"))
    left = s3.client().list_multipart_uploads(Bucket=s3.bucket, Prefix=key).get("Uploads", [])
    assert [one["UploadId"] for one in left] == [upload]
