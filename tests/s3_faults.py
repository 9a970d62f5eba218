"""A proxy in front of an S3 server that misbehaves on order.

    with proxied(s3.endpoint) as proxy:
        proxy.order("PUT", Status(503), times=2)          # two PUTs meet it, whatever comes after is passed on
        proxy.order("PUT", "cut request", match="partNumber=2")

Faults: `Status(code, error)` answers by itself; "cut request" reads half of the body and hangs up; "cut answer" passes
on, and hangs up in the middle of the answer; "lost answer" passes on, and hangs up before the answer; "hang" holds the
connection until the block ends.
"""

import contextlib
import http.client
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Status:
    """An answer of S3 with an error."""

    code: int
    error: str = "SlowDown"


Fault = Status | Literal["cut request", "cut answer", "lost answer", "hang"]


@dataclass(kw_only=True)
class _Order:
    method: str
    fault: Fault
    match: str
    times: float
    skip: int


class Proxy(ThreadingHTTPServer):
    """Keeps the orders, and the requests that came (method and path with query)."""

    daemon_threads = True

    def __init__(self, upstream: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream).netloc
        self.endpoint = f"http://127.0.0.1:{self.server_address[1]}"
        self.requests: list[tuple[str, str]] = []
        self.released = threading.Event()
        self._orders: list[_Order] = []
        self._lock = threading.Lock()

    def order(self, method: str, fault: Fault, *, match: str = "", times: float = 1, skip: int = 0) -> None:
        """Let requests meet a fault.

        Args:
            method: of HTTP; '' for any.
            fault: see the module.
            match: a regular expression found in the path and query.
            times: how many requests meet it; infinity for all.
            skip: how many pass before the first does.
        """
        with self._lock:
            self._orders.append(_Order(method=method, fault=fault, match=match, times=times, skip=skip))

    def due(self, method: str, path: str) -> Fault | None:
        """The fault that a request meets."""
        with self._lock:
            self.requests.append((method, path))
            for order in self._orders:
                if order.times > 0 and order.method in ("", method) and re.search(order.match, path):
                    if order.skip:
                        order.skip -= 1
                        continue
                    order.times -= 1
                    return order.fault
        return None

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is no news here."""


class _Handler(BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do(self) -> None:
        fault = self.server.due(self.command, self.path)
        length = int(self.headers.get("Content-Length") or 0)
        if fault == "cut request":
            self.rfile.read(length // 2)
            self.close_connection = True
            return
        body = self.rfile.read(length)
        if fault == "hang":
            self.server.released.wait(timeout=60)
            self.close_connection = True
        elif isinstance(fault, Status):
            text = f"<?xml version='1.0'?><Error><Code>{fault.error}</Code><Message>on order</Message></Error>"
            self._send(fault.code, [("Content-Type", "application/xml")], text.encode())
        else:
            self._pass_on(body, fault)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do  # noqa: N815  http.server's names

    def _pass_on(self, body: bytes, fault: Fault | None) -> None:
        connection = http.client.HTTPConnection(self.server.upstream)
        with contextlib.closing(connection):
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("expect", "connection"):
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            content = answer.read()
            headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _BY_HOP]
            length = answer.headers.get("Content-Length")
        if fault == "lost answer":
            self.close_connection = True
            return
        self._send(answer.status, headers, content, length=length, cut=fault == "cut answer")

    def _send(
        self,
        status: int,
        headers: list[tuple[str, str]],
        content: bytes,
        *,
        length: str | None = None,
        cut: bool = False,
    ) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = self.close_connection or cut


_BY_HOP = frozenset({"connection", "content-length", "transfer-encoding", "keep-alive", "server", "date"})


@contextlib.contextmanager
def proxied(upstream: str) -> Iterator[Proxy]:
    """A proxy in this process, for as long as the block runs; other processes may use it too."""
    proxy = Proxy(upstream)
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.released.set()
        proxy.shutdown()
        proxy.server_close()
        thread.join()
