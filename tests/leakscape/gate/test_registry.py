"""The Model Registry's own client against a loopback server that speaks the part of its API that is used."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from leakscape.errors import InputError, TransientError
from leakscape.gate.ways_out.registry import write_properties

ROOT = "/api/model_registry/v1"
TOKEN = "hf0-loopback"  # noqa: S105 - of the loopback server alone
MODEL = {"id": "1", "name": "notes", "state": "LIVE"}


class Registry(ThreadingHTTPServer):
    """One model, `notes`, with the version `7`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.version: dict[str, Any] = {
            "id": "2", "name": "7", "registeredModelId": "1", "state": "LIVE",
            "customProperties": {"owner": {"metadataType": "MetadataStringValue", "string_value": "ward 3"}},
        }  # fmt: skip
        self.patches: list[dict[str, Any]] = []
        self.tokens: set[str] = set()
        self.refusal = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self.server.tokens.add(self.headers.get("Authorization", ""))
        url = urlsplit(self.path)
        name = parse_qs(url.query).get("name", [""])[0]
        if self.server.refusal:
            self._answer(self.server.refusal, {"code": "", "message": "no"})
        elif url.path == f"{ROOT}/registered_models":
            self._answer(200, {"items": [MODEL], "nextPageToken": "", "pageSize": 1, "size": 1})
        elif url.path == f"{ROOT}/registered_model" and name == "notes":
            self._answer(200, MODEL)
        elif url.path == f"{ROOT}/model_version" and name == "7":
            self._answer(200, self.server.version)
        else:
            self._answer(404, {"code": "404", "message": "not found"})

    def do_PATCH(self) -> None:
        assert self.path == f"{ROOT}/model_versions/2"
        patch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.patches.append(patch)
        self.server.version = {**self.server.version, **patch}
        self._answer(200, self.server.version)

    def _answer(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def write(registry: Registry, model: str = "notes", version: str = "7", token: str = "") -> None:
    properties = {"leakscape.gate": "passed", "leakscape.exposure_bits": 1.5}
    write_properties(properties, address=registry.address, model=model, version=version, token=token)


def test_properties_are_added_to_those_that_are_there(registry: Registry):
    write(registry)
    write(registry)
    held = registry.version["customProperties"]
    assert held["owner"]["string_value"] == "ward 3"
    assert held["leakscape.gate"]["string_value"] == "passed"
    assert held["leakscape.exposure_bits"]["double_value"] == 1.5
    assert registry.patches[0] == registry.patches[1]


def test_the_token_goes_to_the_registry_alone(registry: Registry, capfd: pytest.CaptureFixture[str]):
    write(registry, token=TOKEN)
    assert registry.tokens == {f"Bearer {TOKEN}"}
    registry.refusal = 403
    with pytest.raises(InputError, match="refused with 403; check the token") as refused:
        write(registry, token=TOKEN)
    assert TOKEN not in str(refused.value) + "".join(capfd.readouterr())


def test_what_is_not_there_is_named(registry: Registry):
    with pytest.raises(InputError, match="no version 8 of notes"):
        write(registry, version="8")
    with pytest.raises(InputError, match="no model letters"):
        write(registry, model="letters")
    assert registry.patches == []


def test_a_registry_that_is_away_may_be_asked_again(registry: Registry):
    registry.refusal = 503
    with pytest.raises(TransientError, match="answered 503"):
        write(registry)
    registry.server_close()
    registry.shutdown()
    with pytest.raises(TransientError, match="can't be reached"):
        write(registry)
