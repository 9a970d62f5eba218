"""A real API server's word on chart and overlays, where one is at hand: defaults, validation and admission included.

KUBE_APISERVER and ETCD name the two programs (or they lie on PATH); without them this is skipped. The page
docs/how-to/install.md says where they come from.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checks import ROOT, documents, run

pytestmark = pytest.mark.integration

APISERVER = os.environ.get("KUBE_APISERVER") or shutil.which("kube-apiserver")
ETCD = os.environ.get("ETCD") or shutil.which("etcd")
CHART = ROOT / "charts" / "leakscape"
TOKEN = "of-a-server-that-lives-for-one-test"  # noqa: S105
STARTUP = 120


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def signing_key(folder: Path) -> Path:
    """The key that the server signs service accounts' tokens with."""
    path = folder / "key.pem"
    subprocess.run(["openssl", "genrsa", "-out", path, "2048"], check=True, capture_output=True)  # noqa: S607
    return path


class Server:
    """An API server on etcd, both on the loopback address."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        clients, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        etcd = [ETCD, f"--data-dir={self.folder / 'etcd'}", f"--listen-client-urls={clients}"]
        etcd += [f"--advertise-client-urls={clients}", f"--listen-peer-urls={peers}"]
        self._run("etcd", etcd)
        key = signing_key(self.folder)
        (self.folder / "tokens.csv").write_text(f"{TOKEN},admin,1,system:masters\n", encoding="utf-8")
        self._run(
            "apiserver",
            [
                APISERVER,
                f"--etcd-servers={clients}",
                "--bind-address=127.0.0.1",
                f"--secure-port={self.port}",
                f"--cert-dir={self.folder}",
                f"--token-auth-file={self.folder / 'tokens.csv'}",
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}",
                "--service-cluster-ip-range=10.0.0.0/24",
            ],
        )
        until = time.monotonic() + STARTUP
        while self.kubectl("get", "namespace", "default", check=False).returncode:
            assert time.monotonic() < until, (self.folder / "apiserver.log").read_text(encoding="utf-8")[-2000:]
            time.sleep(0.5)

    def kubectl(self, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        options = [f"--server=https://127.0.0.1:{self.port}", "--insecure-skip-tls-verify", f"--token={TOKEN}"]
        return run("kubectl", *options, *arguments, check=check)

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def _run(self, name: str, command: list[Any]) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not (APISERVER and ETCD):
        pytest.skip("needs kube-apiserver and etcd")
    made = Server(tmp_path_factory.mktemp("server"))
    try:
        made.start()
        for namespace in ("audits", "leakscape"):
            made.kubectl("create", "namespace", namespace)
        yield made
    finally:
        made.stop()


def known(server: Server, objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The objects of kinds that the server has: no operators' ones, and fewer on a version older than ours."""
    served = {line.split()[-1] for line in server.kubectl("api-resources", "--no-headers").stdout.splitlines()}
    versions = set(server.kubectl("api-versions").stdout.split())
    return [one for one in objects if one["kind"] in served and one["apiVersion"] in versions]


@pytest.mark.parametrize("values", [path.stem for path in sorted((CHART / "ci").glob("*-values.yaml"))])
def test_a_server_takes_the_chart(server: Server, values: str, tmp_path: Path):
    file = CHART / "ci" / f"{values}.yaml"
    objects = documents(run("helm", "template", "demo", CHART, "--namespace", "audits", "-f", file).stdout)
    assert take(server, known(server, objects), tmp_path) > 10


@pytest.mark.parametrize("overlay", sorted(path.name for path in (ROOT / "manifests" / "overlays").iterdir()))
def test_a_server_takes_the_overlays(server: Server, overlay: str, tmp_path: Path):
    objects = documents(run("kubectl", "kustomize", ROOT / "manifests" / "overlays" / overlay).stdout)
    assert take(server, known(server, objects), tmp_path) > 8


def test_a_server_refuses_what_a_schema_lets_pass(server: Server, tmp_path: Path):
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "7b", "namespace": "audits"},
        "spec": {"ports": [{"port": 70_000}]},
    }
    (tmp_path / "objects.json").write_text(json.dumps(service), encoding="utf-8")
    done = server.kubectl("apply", "--dry-run=server", "-f", tmp_path / "objects.json", check=False)
    assert "Invalid value: 70000" in done.stderr


def take(server: Server, objects: list[dict[str, Any]], folder: Path) -> int:
    """Ask the server for a dry run of all objects; gives how many it took."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    (folder / "objects.json").write_text(text, encoding="utf-8")
    done = server.kubectl("apply", "--dry-run=server", "-f", folder / "objects.json")
    assert done.stderr == ""
    return len(done.stdout.splitlines())
