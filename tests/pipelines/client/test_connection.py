import datetime as dt
import ipaddress
import socket
import ssl
from pathlib import Path

import kfp_server
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from leakscape.errors import InputError, TransientError
from pipelines.client import connection as module
from pipelines.client.connection import connect
from pipelines.client.pipeline import find

SECRET = "hush-1234"  # noqa: S105 - made up


def stranger(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that it has signed itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stranger")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file = folder / "stranger.pem"
    file.write_bytes(key.private_bytes(*form) + made.public_bytes(form[0]))
    return file


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


@pytest.mark.parametrize("address", ["http://[::1", "http://a:99999"])
def test_an_address_that_none_can_have_is_not_tried_again(address: str):
    with pytest.raises(InputError, match="is no address"):
        find(connect({}, endpoint=address), "x")


@pytest.mark.parametrize("token", [SECRET + "\nsecond", SECRET + " two", SECRET + "\u00fc"])
def test_what_no_header_can_carry_is_no_token(tmp_path: Path, token: str):
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8")
    for given, words in (
        ({"LEAKSCAPE_KFP_TOKEN": token}, "LEAKSCAPE_KFP_TOKEN holds no token"),
        ({}, "token holds no"),
    ):
        with pytest.raises(InputError, match=words) as raised:
            connect(given, endpoint="http://a", token_file="" if given else str(file)).token()
        assert SECRET not in str(raised.value)


def test_a_token_may_be_saved_as_editors_do(tmp_path: Path):
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\r\n", encoding="utf-8-sig", newline="")
    assert connect({}, endpoint="http://a", token_file=str(file)).token() == SECRET
    assert connect({"LEAKSCAPE_KFP_TOKEN": f"{SECRET}\n"}, endpoint="http://a").token() == SECRET


def test_the_authority_is_read_before_anything_is_asked(tmp_path: Path):
    file = tmp_path / "ca.pem"
    with pytest.raises(InputError, match="holds no PEM"):
        connect({}, endpoint="https://a", ca_file=str(file))
    file.write_text("no certificate", encoding="utf-8")
    with pytest.raises(InputError, match="holds no PEM"):
        connect({}, endpoint="https://a", ca_file=str(file))


def test_a_certificate_of_nobody_known_is_not_tried_again(tmp_path: Path):
    certificate = stranger(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with kfp_server.running(tls=context) as server:
        with pytest.raises(InputError, match="is not trusted; give its authority by --ca-file"):
            find(connect({}, endpoint=server.endpoint), "x")
        assert find(connect({}, endpoint=server.endpoint, ca_file=str(certificate)), "x") == ""


@pytest.mark.parametrize("body", [b"null", b"[" * 100_000, b"\xff", b"{", b"[]", b'"x"', b" "])
def test_an_answer_that_holds_nothing_is_no_api(body: bytes):
    with kfp_server.running(raw=body) as server, pytest.raises(InputError, match="is no Kubeflow Pipelines API"):
        assert connect({}, endpoint=server.endpoint).user


def test_pages_that_come_round_again_end():
    body = b'{"pipelines": [], "next_page_token": "again"}'
    with kfp_server.running(raw=body) as server, pytest.raises(InputError, match="the same page again and again"):
        find(connect({}, endpoint=server.endpoint), "x")


def test_a_server_with_many_users_wants_a_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "NAMESPACE_FILE", tmp_path / "namespace")
    with kfp_server.running(multi_user=True) as server:
        with pytest.raises(InputError, match="give --namespace"):
            find(connect({}, endpoint=server.endpoint), "x")
        (tmp_path / "namespace").write_text("team\n", encoding="utf-8")
        assert connect({}, endpoint=server.endpoint).user == "team"
        assert connect({}, endpoint=server.endpoint, namespace="other").user == "other"
