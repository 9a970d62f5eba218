"""An OpenAI-compatible server in a process of its own that misbehaves on order.

Run as a program it prints its port and serves. POST /faults takes a JSON list; each later request to a model takes
the next fault of the list, and is answered well once the list is empty. GET /requests tells what was asked.
"""

import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "input_tokens": 11, "output_tokens": 7}


def retold(prompt: str) -> str:
    """The good answer to a prompt: it depends on nothing else, as a greedy model's does."""
    source = re.split(r"\n\n", prompt)[-2]
    if prompt.endswith("Judgement:"):
        return json.dumps({"privacy": 1 + len(source) % 5, "quality": 5, "reason": "combination"})
    return f"Retold {hashlib.sha256(source.encode()).hexdigest()[:12]}."


class Server(ThreadingHTTPServer):
    """Keeps the faults to come and the requests that came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.faults: list[str] = []
        self.requests: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        with self.server.lock:
            self.send(200, self.server.requests)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/faults":
            with self.server.lock:
                self.server.faults = list(body)
                self.server.requests = []
            self.send(200, {})
            return
        with self.server.lock:
            fault = self.server.faults.pop(0) if self.server.faults else ""
            self.server.requests.append(body | {"path": self.path, "fault": fault})
        self.answer(body, fault)

    def answer(self, body: dict[str, Any], fault: str) -> None:
        """Misbehave as ordered, or answer."""
        if fault.isdigit():
            self.send(int(fault), {"error": {"message": "out of order"}}, {"retry-after-ms": "1"})
        elif fault == "hang":
            self.server.released.wait(timeout=30)
            self.close_connection = True
        elif fault == "half-closed":
            self.send_response(200)
            self.send_header("Content-Length", "5000")
            self.end_headers()
            self.wfile.write(b'{"id": "x", "choices": [')
            self.close_connection = True
        elif fault == "not json":
            self.send(200, None, raw=b"<html>gateway</html>")
        elif self.path.endswith("/responses"):
            self.send(200, response(body, fault))
        else:
            self.send(200, completion(body, fault))

    def send(self, status: int, value: object, headers: dict[str, str] | None = None, raw: bytes | None = None) -> None:
        """Answer in JSON."""
        content = raw if raw is not None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def completion(body: dict[str, Any], fault: str) -> dict[str, Any]:
    """A chat completion."""
    text = retold(body["messages"][0]["content"])
    message: dict[str, Any] = {"role": "assistant", "content": text}
    finish = "stop"
    if fault == "truncated":
        message["content"], finish = text[:8], "length"
    elif fault == "empty":
        message["content"] = ""
    elif fault == "prose":
        message["content"] = "Four of five, I should say."
    elif fault == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "no"}
    elif fault == "declines":
        message["content"] = "I'm sorry, but I can't help with that."
    elif fault == "filtered":
        finish = "content_filter"
    choices = [] if fault == "no choice" else [{"index": 0, "message": message, "finish_reason": finish}]
    return {
        "id": "x", "object": "chat.completion", "created": 0, "model": body["model"], "choices": choices,
        "usage": USAGE,
    }  # fmt: skip


def response(body: dict[str, Any], fault: str) -> dict[str, Any]:
    """An answer of the responses interface."""
    text = retold(body["input"])
    content: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    status, details = "completed", None
    if fault == "truncated":
        status, details = "incomplete", {"reason": "max_output_tokens"}
    elif fault == "filtered":
        status, details = "incomplete", {"reason": "content_filter"}
    elif fault == "refusal":
        content = {"type": "refusal", "refusal": "no"}
    elif fault == "empty":
        content["text"] = ""
    message = {"type": "message", "id": "m", "role": "assistant", "status": status, "content": [content]}
    usage = {
        **USAGE,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": "x", "object": "response", "created_at": 0, "model": body["model"], "status": status, "error": None,
        "incomplete_details": details, "instructions": None, "metadata": {}, "output": [message], "tools": [],
        "parallel_tool_calls": False, "tool_choice": "auto", "temperature": 0, "top_p": 1, "usage": usage,
    }  # fmt: skip


class Client:
    """What a test holds of a running server."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._root = f"http://127.0.0.1:{port}"

    def order(self, *faults: str) -> None:
        """Say what the next requests meet, and forget the requests so far."""
        httpx.post(f"{self._root}/faults", json=faults)

    def requests(self) -> list[dict[str, Any]]:
        """What was asked since the last order."""
        return list(httpx.get(f"{self._root}/requests").json())


@contextmanager
def running() -> Iterator[Client]:
    """A server in a process of its own, for as long as the block runs."""
    with subprocess.Popen([sys.executable, str(Path(__file__))], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Client(int(process.stdout.readline()))
        finally:
            process.kill()


if __name__ == "__main__":
    served = Server()
    sys.stdout.write(f"{served.server_address[1]}\n")
    sys.stdout.flush()
    served.serve_forever()
