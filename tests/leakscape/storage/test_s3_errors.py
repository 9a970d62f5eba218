"""What a user is told when S3 refuses, and that no secret is in it."""

import logging
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from s3_faults import Status, proxied
from s3_server import S3Server

from leakscape.errors import InputError, LeakscapeError, TransientError
from leakscape.storage import AbsentError, open_place
from leakscape.storage.s3_client import S3Settings, settings_from_environment

TOKEN = "session-token-known-to-this-test"  # noqa: S105


@pytest.mark.parametrize(
    ("environment", "settings"),
    [
        ({}, S3Settings()),
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "x"}, S3Settings(region="eu-west-1")),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, S3Settings(region="eu-west-1")),
        ({"AWS_ENDPOINT_URL": "http://s"}, S3Settings(region="us-east-1", path_style=True)),
        ({"AWS_ENDPOINT_URL_S3": "http://s", "AWS_REGION": "r"}, S3Settings(region="r", path_style=True)),
        ({"LEAKSCAPE_S3_SSE": "AES256"}, S3Settings(encryption="AES256")),
        ({"LEAKSCAPE_S3_KMS_KEY": "k"}, S3Settings(encryption="aws:kms", kms_key="k")),
        (
            {"LEAKSCAPE_S3_SSE": "aws:kms:dsse", "LEAKSCAPE_S3_KMS_KEY": "k"},
            S3Settings(encryption="aws:kms:dsse", kms_key="k"),
        ),
        ({"AWS_MAX_ATTEMPTS": "3", "AWS_RETRY_MODE": "adaptive"}, S3Settings(attempts=3, retry_mode="adaptive")),
    ],
)
def test_settings_come_from_the_usual_variables(environment: dict[str, str], settings: S3Settings) -> None:
    assert settings_from_environment(environment) == settings


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"LEAKSCAPE_S3_SSE": "aes"}, "LEAKSCAPE_S3_SSE must be one of AES256, aws:kms"),
        ({"LEAKSCAPE_S3_SSE": "AES256", "LEAKSCAPE_S3_KMS_KEY": "k"}, "takes no key"),
        ({"AWS_MAX_ATTEMPTS": "0"}, "AWS_MAX_ATTEMPTS must be a whole number"),
        ({"AWS_MAX_ATTEMPTS": "many"}, "AWS_MAX_ATTEMPTS must be a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(environment: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        settings_from_environment(environment)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("AWS_ENDPOINT_URL", "not an address", "AWS_ENDPOINT_URL is no address"),
        ("AWS_PROFILE", "nobody", r"boto3 can't be set up \(ProfileNotFound\).*AWS_PROFILE"),
        ("AWS_RETRY_MODE", "often", r"boto3 can't be set up \(InvalidRetryModeError\)"),
    ],
)
def test_a_client_that_cannot_be_made_says_why(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InputError, match=words):
        open_place("s3://bucket/x").names()


def test_missing_credentials_say_which_variables_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"s3://bucket/x.*no credentials were found.*set AWS_ACCESS_KEY_ID") as met:
        open_place("s3://bucket/x").names()
    assert met.value.exit_code == 2
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "half")
    with pytest.raises(InputError, match=r"PartialCredentialsError.*AWS_SECRET_ACCESS_KEY"):
        open_place("s3://bucket/x").names()


def acts(text: str, file: Path) -> dict[str, Callable[[], object]]:
    """Everything that a place does with a service."""
    place = open_place(text)
    return {
        "names": place.names,
        "read": lambda: place.read("a"),
        "create": lambda: place.create("a", b"x"),
        "replace": lambda: place.replace("a", b"x", tag='"d41d8cd98f00b204e9800998ecf8427e"'),
        "upload": lambda: place.upload("a", file),
        "download": lambda: place.download("a", file.parent / "new"),
        "remove": lambda: place.remove("a"),
        "sweep": place.sweep,
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(b"content")
    return tmp_path / "file"


@pytest.mark.integration
@pytest.mark.parametrize("act", ["names", "read", "create", "upload"])
def test_a_missing_bucket_is_named(s3: S3Server, file: Path, act: str) -> None:
    assert s3.endpoint
    with pytest.raises(InputError, match="the bucket not-there does not exist; make it") as met:
        acts("s3://not-there/x", file)[act]()
    assert not isinstance(met.value, AbsentError)


@pytest.mark.integration
@pytest.mark.parametrize(("act", "action"), [("create", "PutObject"), ("upload", "PutObject"), ("remove", "DeleteObj")])
def test_who_may_only_read_is_told_what_to_allow(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch, file: Path, act: str, action: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.reader[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.reader[1])
    text = s3.place()
    with pytest.raises(InputError, match=f"{text}/a: access denied for {action}"):
        acts(text, file)[act]()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("variable", "code"),
    [("AWS_ACCESS_KEY_ID", "InvalidAccessKeyId"), ("AWS_SECRET_ACCESS_KEY", "SignatureDoesNotMatch")],
)
@pytest.mark.parametrize("act", ["names", "create", "download"])
def test_wrong_credentials_are_wrong_input(  # noqa: PLR0917  one row a case
    s3: S3Server, monkeypatch: pytest.MonkeyPatch, file: Path, act: str, variable: str, code: str
) -> None:
    monkeypatch.setenv(variable, "WRONGVALUE")
    # A HEAD has no body, so its refusal has no code.
    words = "access denied for HeadObject" if act == "download" else rf"does not accept the credentials \({code}\)"
    with pytest.raises(InputError, match=words):
        acts(s3.place(), file)[act]()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (Status(403, "RequestTimeTooSkewed"), InputError, "clock"),
        (Status(400, "ExpiredToken"), InputError, "ExpiredToken"),
        (Status(301, "PermanentRedirect"), InputError, "another region"),
        (Status(400, "AuthorizationHeaderMalformed"), InputError, "set AWS_REGION"),
        (Status(400, "KMS.NotFoundException"), InputError, "LEAKSCAPE_S3_KMS_KEY"),
        (Status(403, "AccessDenied"), InputError, "access denied for PutObject"),
        (Status(501, "NotImplemented"), InputError, r"refuses PutObject \(NotImplemented, 501\)"),
        (Status(400, "a key=b"), InputError, r"refuses PutObject \(unknown, 400\)"),
        (Status(409, "ConditionalRequestConflict"), InputError, "written by somebody else"),
        (Status(409, "OperationAborted"), TransientError, "busy"),
        (Status(503, "SlowDown"), TransientError, "busy"),
    ],
)
def test_each_refusal_has_its_sentence(
    s3: S3Server,
    monkeypatch: pytest.MonkeyPatch,
    fault: Status,
    kind: type[LeakscapeError],
    words: str,
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with proxied(s3.endpoint) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        proxy.order("PUT", fault, times=math.inf)
        with pytest.raises(kind, match=words):
            open_place(s3.place()).create("a", b"x")


@pytest.mark.integration
def test_an_untrusted_certificate_is_named(s3: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A service that hangs up in the middle of the TLS handshake, and an authority's file that is not there."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.endpoint.replace("http://", "https://"))
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(InputError, match="certificate is not trusted"):
        open_place("s3://bucket/x").names()
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "none.pem"))
    with pytest.raises(InputError, match="AWS_CA_BUNDLE"):
        open_place("s3://bucket/x").names()


EVERYTHING = """
import logging, sys, traceback
from pathlib import Path
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
sys.path[:0] = [{tests!r}, {here!r}]
from test_s3_errors import acts
from leakscape.errors import LeakscapeError
print("level", logging.getLogger().level)
for name, act in acts(sys.argv[1], Path(sys.argv[2])).items():
    try:
        act()
        print(name, "went well")
    except LeakscapeError:
        traceback.print_exc()
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    "fault",
    [None, Status(503), Status(403, "AccessDenied"), Status(403, "SignatureDoesNotMatch"), "cut request", "cut answer"],
)
def test_no_secret_is_printed_raised_or_logged(s3: S3Server, file: Path, fault: Status | None) -> None:
    """With every logger at DEBUG and tracebacks in full."""
    here = Path(__file__).parent
    program = EVERYTHING.format(tests=str(here.parents[1]), here=str(here))
    with proxied(s3.endpoint) as proxy:
        if fault:
            proxy.order("", fault, times=math.inf)
        environment = {
            **os.environ,
            **s3.environment(proxy.endpoint),
            "AWS_MAX_ATTEMPTS": "2",
            "AWS_SESSION_TOKEN": TOKEN if fault else "",
        }
        done = subprocess.run(
            [sys.executable, "-c", program, s3.place(), str(file)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
    printed = done.stdout + done.stderr
    assert "level 10" in printed
    assert printed.count("went well" if fault is None else "Error: ") >= 5
    for secret in (s3.secret_key, s3.access_key, TOKEN, "Signature="):
        assert secret not in printed


def test_a_logger_that_is_quiet_already_is_left_alone() -> None:
    before = logging.getLogger("botocore").level
    logging.getLogger("botocore").setLevel(logging.ERROR)
    try:
        with pytest.raises(LeakscapeError):
            open_place("s3://bucket/x").read("")
        assert logging.getLogger("botocore").level == logging.ERROR
    finally:
        logging.getLogger("botocore").setLevel(before)
