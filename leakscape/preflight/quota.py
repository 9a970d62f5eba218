"""The namespace's quota of accelerators, read from the Kubernetes API where the pod's account may."""

import json
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leakscape.preflight.findings import Finding, State

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_SECONDS = 5


def quota(resource: str, count: int, environment: Mapping[str, str], *, account: Path = ACCOUNT) -> Finding:
    """Whether the quota leaves room for so many accelerators.

    Args:
        resource: such as `nvidia.com/gpu`.
        count: how many one step asks for.
        environment: tells where the API is.
        account: the folder of the pod's service account.
    """
    name = f"requests.{resource}"
    try:
        quotas = _read(environment, account)
    except (OSError, ValueError, KeyError) as error:
        words = f"can't be read here ({type(error).__name__})."
        return Finding(what="quota", name=name, state=State.UNKNOWN, words=words)
    held = [status for status in quotas if name in status.get("hard", {})]
    if not held:
        return Finding(what="quota", name=name, state=State.FINE, words="the namespace has no quota of it.")
    if min(_whole(status["hard"][name]) for status in held) < count:
        words = f"a step asks for {count}, more than the namespace may ever have; raise the quota or ask for less."
        return Finding(what="quota", name=name, state=State.MISSING, words=words)
    left = max(0, min(_left(status, name) for status in held))
    waits = "" if left >= count else "; it waits until others are done"
    return Finding(what="quota", name=name, state=State.FINE, words=f"{left} left, a step asks for {count}{waits}.")


def _read(environment: Mapping[str, str], account: Path) -> list[dict[str, Any]]:
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    namespace = (account / "namespace").read_text(encoding="utf-8").strip()
    token = (account / "token").read_text(encoding="utf-8").strip()
    request = urllib.request.Request(
        f"https://{f'[{host}]' if ':' in host else host}:{port}/api/v1/namespaces/{namespace}/resourcequotas",
        headers={"Authorization": f"Bearer {token}"},
    )
    trusted = ssl.create_default_context(cafile=str(account / "ca.crt"))
    with urllib.request.urlopen(request, timeout=_SECONDS, context=trusted) as answer:  # noqa: S310
        return [item.get("status", {}) for item in json.loads(answer.read())["items"]]


def _left(status: dict[str, Any], name: str) -> int:
    return _whole(status["hard"][name]) - _whole(status.get("used", {}).get(name, "0"))


def _whole(quantity: str) -> int:
    """A count of devices; Kubernetes has no fractions of them, but may write `2k`."""
    found = re.fullmatch(r"(\d+)(k?)", quantity)
    if not found:
        raise ValueError("no count")
    return int(found[1]) * (1000 if found[2] else 1)
