"""A loopback server that speaks the part of KFP's v2 REST API that the client uses, and keeps what it was asked.

Field names and forms are those of kfp_server_api 2.17.3. Lists come in pages of two, numbers inside parameters come
back as doubles, as protobuf's Struct has them, and a recurring run without a version stays without one.
"""

import contextlib
import email.parser
import email.policy
import json
import re
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = 2
_API = "/apis/v2beta1"


@dataclass
class Kubeflow:
    """The server's state.

    Args:
        token: the bearer token that it wants; '' for none.
        multi_user: whether lists need a namespace.
        raw: what every request is answered with, where it is not empty.
        failures: statuses with which the next requests are answered; 0 lets one through.
    """

    token: str = ""
    multi_user: bool = False
    endpoint: str = ""
    failures: list[int] = field(default_factory=list)
    html: bool = False
    raw: bytes = b""
    pipelines: dict[str, dict[str, Any]] = field(default_factory=dict)
    versions: dict[str, dict[str, Any]] = field(default_factory=dict)
    experiments: dict[str, dict[str, Any]] = field(default_factory=dict)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    recurring: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    clock: int = 0

    @property
    def changes(self) -> list[tuple[str, str]]:
        """The requests that change something, ids replaced by `*`."""
        return [(method, re.sub(r"(?<=/)[a-z]+-\d+", "*", path)) for method, path in self.requests if method != "GET"]

    def add(self, kind: str, prefix: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401
        self.clock += 1
        store: dict[str, dict[str, Any]] = getattr(self, kind)
        made = {**values, "created_at": f"2026-01-01T00:00:{self.clock:02d}Z"}
        made[f"{prefix}_id"] = f"{prefix.replace('_', '')}-{self.clock}"
        store[made[f"{prefix}_id"]] = made
        return made


class _Answer(Exception):  # noqa: N818 - no error
    def __init__(self, status: int, body: Any) -> None:  # noqa: ANN401
        super().__init__()
        self.status, self.body = status, body


class _Handler(BaseHTTPRequestHandler):
    kubeflow: Kubeflow

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        self.kubeflow.requests.append((method, url.path.removeprefix(_API)))
        try:
            self._check()
            status, answer = 200, self.kubeflow.raw or self._route(method, url.path.removeprefix(_API), query, body)
        except _Answer as given:
            status, answer = given.status, given.body
        html = self.kubeflow.html
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        content = b"<html><title>Sign in</title></html>" if html else content
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if html else "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _check(self) -> None:
        given = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        self.kubeflow.tokens.append(given)
        if self.kubeflow.failures and (status := self.kubeflow.failures.pop(0)):
            raise _Answer(status, {"message": f"a failure; the caller sent Bearer {given}", "code": 13})
        if self.kubeflow.token and given != self.kubeflow.token:
            raise _Answer(401, {"message": f"token {given} is not known", "code": 16})

    def _route(self, method: str, path: str, query: dict[str, str], body: bytes) -> Any:  # noqa: ANN401
        for wanted, pattern, name in _ROUTES:
            if method == wanted and (found := re.fullmatch(pattern, path)):
                if "multipart" in (self.headers.get("Content-Type") or ""):
                    return getattr(self, name)(query, self._file(body))
                given = json.loads(body) if body and body != b"null" else {}
                return getattr(self, name)(*found.groups(), query if method == "GET" else given)
        raise _Answer(404, {"message": f"{method} {path} is not there", "code": 5})

    def _file(self, body: bytes) -> bytes:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        (part,) = message.iter_parts()
        content: bytes = part.get_payload(decode=True)
        return content

    def healthz(self, _query: dict[str, str]) -> Any:  # noqa: ANN401
        return {"multi_user": self.kubeflow.multi_user}

    def _list(self, kind: str, query: dict[str, str], **wanted: str) -> Any:  # noqa: ANN401
        found = list(getattr(self.kubeflow, kind).values())
        for predicate in json.loads(query.get("filter") or "{}").get("predicates", []):
            found = [one for one in found if one[predicate["key"]] == predicate["stringValue"]]
        found = [one for one in found if all(one.get(key) == value for key, value in wanted.items())]
        if self.kubeflow.multi_user and kind != "versions":
            found = [one for one in found if one.get("namespace", "") == query.get("namespace")]
        if "desc" in query.get("sort_by", ""):
            found.reverse()
        start = int(query.get("page_token") or 0)
        more = str(start + PAGE) if start + PAGE < len(found) else ""
        return found[start : start + PAGE], more

    def _page(self, field_name: str, kind: str, query: dict[str, str], **wanted: str) -> dict[str, Any]:
        found, more = self._list(kind, query, **wanted)
        return {field_name: found, "next_page_token": more} if found else {}

    def list_pipelines(self, query: dict[str, str]) -> Any:  # noqa: ANN401
        return self._page("pipelines", "pipelines", query)

    def get_pipeline(self, name: str, _query: dict[str, str]) -> Any:  # noqa: ANN401
        return self.kubeflow.pipelines[name]

    def create_pipeline(self, given: dict[str, Any]) -> Any:  # noqa: ANN401
        if any(one["display_name"] == given["display_name"] for one in self.kubeflow.pipelines.values()):
            raise _Answer(409, {"message": f"pipeline {given['display_name']} already exists", "code": 6})
        return self.kubeflow.add("pipelines", "pipeline", **given)

    def list_versions(self, pipeline: str, query: dict[str, str]) -> Any:  # noqa: ANN401
        return self._page("pipeline_versions", "versions", query, pipeline_id=pipeline)

    def upload_version(self, query: dict[str, str], content: bytes) -> Any:  # noqa: ANN401
        taken = [one for one in self.kubeflow.versions.values() if one["pipeline_id"] == query["pipelineid"]]
        if any(one["display_name"] == query["display_name"] for one in taken):
            raise _Answer(409, {"message": "the version already exists", "code": 6})
        made = self.kubeflow.add(
            "versions", "pipeline_version", pipeline_id=query["pipelineid"], display_name=query["display_name"]
        )
        made["content"] = content.decode()
        return {name: value for name, value in made.items() if name != "content"}

    def list_experiments(self, query: dict[str, str]) -> Any:  # noqa: ANN401
        return self._page("experiments", "experiments", query)

    def create_experiment(self, given: dict[str, Any]) -> Any:  # noqa: ANN401
        return self.kubeflow.add("experiments", "experiment", **given)

    def list_runs(self, query: dict[str, str]) -> Any:  # noqa: ANN401
        return self._page("runs", "runs", query)

    def create_run(self, given: dict[str, Any]) -> Any:  # noqa: ANN401
        namespace = self.kubeflow.experiments[given["experiment_id"]].get("namespace", "")
        return self.kubeflow.add("runs", "run", state="PENDING", namespace=namespace, **_as_struct(given))

    def get_run(self, name: str, _query: dict[str, str]) -> Any:  # noqa: ANN401
        if name not in self.kubeflow.runs:
            raise _Answer(404, {"message": "no such run", "code": 5})
        run = self.kubeflow.runs[name]
        later = run.pop("later", None)
        shown = dict(run)
        if later:
            run.update(later)
        return shown

    def list_recurring(self, query: dict[str, str]) -> Any:  # noqa: ANN401
        return self._page("recurringRuns", "recurring", query)

    def create_recurring(self, given: dict[str, Any]) -> Any:  # noqa: ANN401
        status = "ENABLED" if given["mode"] == "ENABLE" else "DISABLED"
        return self.kubeflow.add("recurring", "recurring_run", status=status, **_as_struct(given))

    def delete_recurring(self, name: str, _given: dict[str, Any]) -> Any:  # noqa: ANN401
        del self.kubeflow.recurring[name]
        return {}

    def enable(self, name: str, _given: dict[str, Any]) -> Any:  # noqa: ANN401
        self.kubeflow.recurring[name]["status"] = "ENABLED"
        return {}

    def disable(self, name: str, _given: dict[str, Any]) -> Any:  # noqa: ANN401
        self.kubeflow.recurring[name]["status"] = "DISABLED"
        return {}


_ROUTES = (
    ("GET", "/healthz", "healthz"),
    ("GET", "/pipelines", "list_pipelines"),
    ("POST", "/pipelines", "create_pipeline"),
    ("POST", "/pipelines/upload_version", "upload_version"),
    ("GET", "/pipelines/([^/]+)", "get_pipeline"),
    ("GET", "/pipelines/([^/]+)/versions", "list_versions"),
    ("GET", "/experiments", "list_experiments"),
    ("POST", "/experiments", "create_experiment"),
    ("GET", "/runs", "list_runs"),
    ("POST", "/runs", "create_run"),
    ("GET", "/runs/([^/]+)", "get_run"),
    ("GET", "/recurringruns", "list_recurring"),
    ("POST", "/recurringruns", "create_recurring"),
    ("DELETE", "/recurringruns/([^/]+)", "delete_recurring"),
    ("POST", "/recurringruns/([^/:]+):enable", "enable"),
    ("POST", "/recurringruns/([^/:]+):disable", "disable"),
)


def _as_struct(given: dict[str, Any]) -> dict[str, Any]:
    """Numbers inside parameters as protobuf's Struct gives them back."""

    def doubles(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, dict):
            return {key: doubles(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [doubles(inner) for inner in value]
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    config = dict(given.get("runtime_config") or {})
    config["parameters"] = doubles(config.get("parameters") or {})
    return {**given, "runtime_config": config}


@contextlib.contextmanager
def running(tls: ssl.SSLContext | None = None, **settings: Any) -> Iterator[Kubeflow]:  # noqa: ANN401
    """Serve on a free port of the loopback interface for as long as the context lasts, by TLS if a context is given."""
    kubeflow = Kubeflow(**settings)
    handler = type("Handler", (_Handler,), {"kubeflow": kubeflow})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    kubeflow.endpoint = f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield kubeflow
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
