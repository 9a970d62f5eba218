import socket
from pathlib import Path

import kfp_server
import pytest

from leakscape.errors import InputError, TransientError
from pipelines.client import connection as module
from pipelines.client.connection import connect
from pipelines.client.pipeline import find

SECRET = "hush-1234"  # noqa: S105 - made up


def test_the_address_comes_from_the_environment_unless_given():
    assert connect({"LEAKSCAPE_KFP_ENDPOINT": "http://a:1/"}).endpoint == "http://a:1"
    assert connect({"KF_PIPELINES_ENDPOINT": "https://b/pipeline"}).endpoint == "https://b/pipeline"
    assert connect({"LEAKSCAPE_KFP_ENDPOINT": "http://a"}, endpoint="http://c").endpoint == "http://c"
    with pytest.raises(InputError, match="give --endpoint or set LEAKSCAPE_KFP_ENDPOINT"):
        connect({})


@pytest.mark.parametrize("address", ["a:1", "ftp://a", "http://user:word@a", "http://a?x=1", "http://"])
def test_what_is_no_address_is_refused_and_not_repeated(address: str):
    with pytest.raises(InputError, match="must be http:// or https://") as raised:
        connect({}, endpoint=address)
    assert "word" not in str(raised.value)


def test_a_token_is_read_anew_for_each_request_and_never_shown(tmp_path: Path):
    file = tmp_path / "token"
    file.write_text("first\n", encoding="utf-8")
    with kfp_server.running() as server:
        made = connect({}, endpoint=server.endpoint, token_file=str(file))
        find(made, "x")
        file.write_text(SECRET, encoding="utf-8")
        find(made, "x")
        assert [server.tokens[0], server.tokens[-1]] == ["first", SECRET]
        assert SECRET not in repr(made)


def test_a_token_of_the_environment_and_one_that_the_pod_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert connect({"LEAKSCAPE_KFP_TOKEN": SECRET}, endpoint="http://a").token() == SECRET
    (tmp_path / "token").write_text("pods", encoding="utf-8")
    monkeypatch.setattr(module, "IN_CLUSTER_TOKEN", tmp_path / "token")
    assert connect({}, endpoint="http://a").token() == "pods"
    with pytest.raises(InputError, match="can't be read"):
        connect({}, endpoint="http://a", token_file=str(tmp_path / "none")).token()


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, InputError, "does not know who asks"),
        (403, InputError, r"refuses to list pipelines .*ask for the role"),
        (404, InputError, "has no such thing"),
        (400, InputError, r"refuses to list pipelines \(400\): a failure; the caller sent"),
        (429, TransientError, r"busy or failing \(429"),
        (500, TransientError, "try again later"),
        (503, TransientError, "try again later"),
    ],
)
def test_refusals_say_what_to_do_and_hold_no_token(status: int, kind: type[Exception], words: str):
    with kfp_server.running() as server:
        made = connect({"LEAKSCAPE_KFP_TOKEN": SECRET}, endpoint=server.endpoint)
        server.failures = [0, status]
        with pytest.raises(kind, match=words) as raised:
            find(made, "x")
        assert SECRET not in str(raised.value)


def test_a_server_that_is_away_is_worth_another_try():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(TransientError, match="can't be reached"):
        find(connect({}, endpoint=address), "x")


def test_a_page_to_sign_in_is_no_api():
    with kfp_server.running(html=True) as server, pytest.raises(InputError, match="perhaps a page to sign in"):
        find(connect({}, endpoint=server.endpoint), "x")


def test_a_server_with_many_users_wants_a_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "NAMESPACE_FILE", tmp_path / "namespace")
    with kfp_server.running(multi_user=True) as server:
        with pytest.raises(InputError, match="give --namespace"):
            find(connect({}, endpoint=server.endpoint), "x")
        (tmp_path / "namespace").write_text("team\n", encoding="utf-8")
        assert connect({}, endpoint=server.endpoint).user == "team"
        assert connect({}, endpoint=server.endpoint, namespace="other").user == "other"
