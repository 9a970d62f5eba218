"""A connection to a Kubeflow Pipelines API server, and its failures as our errors.

A token is read anew for each request and never shown; nor is what a server says about one.
"""

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leakscape.errors import InputError, LeakscapeError, TransientError

ENDPOINTS = ("LEAKSCAPE_KFP_ENDPOINT", "KF_PIPELINES_ENDPOINT")
TOKEN, TOKEN_FILE = "LEAKSCAPE_KFP_TOKEN", "KF_PIPELINES_SA_TOKEN_PATH"
IN_CLUSTER_TOKEN = Path("/var/run/secrets/kubeflow/pipelines/token")
NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")

_SECONDS = 30
_PAGE = 100
_REFUSED, _FORBIDDEN, _NOT_FOUND, _TOO_MANY, _SERVER = 401, 403, 404, 429, 500


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Where the server is and who asks.

    Args:
        endpoint: the address of the API, without `/apis`.
        namespace: of the user; '' on a single-user installation.
        token: gives the bearer token, anew each time; '' for none.
        ca_file: PEM of the server's authority; '' for the system's.
    """

    endpoint: str
    namespace: str = ""
    token: Callable[[], str] = lambda: ""
    ca_file: str = ""

    @cached_property
    def _api(self) -> Any:  # noqa: ANN401 - a generated class without types
        import kfp_server_api

        made = kfp_server_api.Configuration(host=self.endpoint)
        if self.ca_file:
            made.ssl_ca_cert = self.ca_file
        if self.token():
            made.api_key_prefix["authorization"] = "Bearer"
            made.refresh_api_key_hook = self._refresh
            self._refresh(made)
        return kfp_server_api.ApiClient(made)

    def _refresh(self, configuration: Any) -> None:  # noqa: ANN401
        configuration.api_key["authorization"] = self.token()

    def ask(self, service: str, method: str, *given: object, **named: object) -> Any:  # noqa: ANN401
        """Call a method of the API and give its answer.

        Args:
            service: `pipeline`, `pipeline_upload`, `experiment`, `run`, `recurring_run` or `healthz`.
            method: its name without the service's own (`list_runs`).
            given: arguments by position.
            named: arguments by name; those that are '' or None are left out.

        Raises:
            InputError: the server refuses, or what answers is no Kubeflow API.
            TransientError: it is away or busy.
        """
        import kfp_server_api

        found = getattr(kfp_server_api, "".join(part.title() for part in service.split("_")) + "ServiceApi")(self._api)
        name = method if hasattr(found, method) else f"{service}_service_{method}"
        call = getattr(found, f"{name}_with_http_info")
        wanted = {name: value for name, value in named.items() if value not in ("", None)}
        with self._explained(method):
            answer, _, headers = call(*given, **wanted, _request_timeout=_SECONDS)
            # The library makes an empty answer of what it can't read.
            whole = isinstance(json.loads(self._api.last_response.data), dict)
            if not whole or "json" not in str(headers.get("Content-Type", "")):
                raise ValueError("no JSON object")
        return answer

    def all(self, service: str, method: str, of: str, *given: object, **named: object) -> Iterator[Any]:
        """Go through a list that the server gives in pages; `of` is the answer's field with the items.

        Raises:
            InputError: pages come round again; or as for `ask`.
        """
        token, seen = "", {""}
        while True:
            answer = self.ask(service, method, *given, page_token=token, page_size=_PAGE, **named)
            yield from getattr(answer, of) or []
            token = answer.next_page_token or ""
            if not token:
                return
            if token in seen:
                raise InputError(f"{self.endpoint} gives the same page again and again ({method.replace('_', ' ')}).")
            seen.add(token)

    @cached_property
    def user(self) -> str:
        """The namespace to ask in; '' where the server has one user.

        Raises:
            InputError: the server has many users and no namespace is known.
        """
        if self.namespace:
            return self.namespace
        if not self.ask("healthz", "get_healthz").multi_user:
            return ""
        with contextlib.suppress(OSError):
            return NAMESPACE_FILE.read_text(encoding="utf-8").strip()
        raise InputError(f"{self.endpoint} serves many users: give --namespace.")

    @contextlib.contextmanager
    def _explained(self, method: str) -> Iterator[None]:
        import urllib3
        from kfp_server_api import ApiException

        try:
            yield
        except ApiException as error:
            raise self._of_answer(method, int(error.status or 0), str(error.body or "")) from None
        except urllib3.exceptions.LocationValueError:
            raise InputError(f"{self.endpoint} is no address: its host or port can't be.") from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if _untrusted(error):
                raise InputError(
                    f"the certificate of {self.endpoint} is not trusted; give its authority by --ca-file."
                ) from None
            raise TransientError(
                f"{self.endpoint} can't be reached ({type(error).__name__}); check the address and the port-forward, "
                "or try again."
            ) from None
        except (AttributeError, TypeError, ValueError, KeyError, RecursionError):
            raise InputError(
                f"what answers at {self.endpoint} is no Kubeflow Pipelines API: perhaps a page to sign in. Give the "
                f"API's own address, and a token by --token-file or {TOKEN}."
            ) from None

    def _of_answer(self, method: str, status: int, body: str) -> LeakscapeError:
        asked = method.replace("_", " ")
        if status == _REFUSED:
            return InputError(
                f"{self.endpoint} does not know who asks (401); give a valid token by --token-file or {TOKEN}."
            )
        if status == _FORBIDDEN:
            where = f" in the namespace {self.namespace}" if self.namespace else ""
            return InputError(f"{self.endpoint} refuses to {asked}{where} (403); ask for the role kubeflow-edit there.")
        if status == _TOO_MANY or status >= _SERVER or not status:
            return TransientError(f"{self.endpoint} is busy or failing ({status}, {asked}); try again later.")
        if status == _NOT_FOUND:
            return InputError(f"{self.endpoint} has no such thing (404, {asked}); check the name, id and namespace.")
        return InputError(f"{self.endpoint} refuses to {asked} ({status}){self._reason(body)}.")

    def _reason(self, body: str) -> str:
        """The server's own words, shortened, and never with the token."""
        try:
            words = " ".join(str(json.loads(body)["message"]).split())
        except (ValueError, KeyError, TypeError):
            return ""
        secret = self.token()
        shown = re.sub(r"(?i)bearer\s+\S+", "", words.replace(secret, "") if secret else words)
        return f": {shown[:200].rstrip('.')}"


def connect(
    environment: Mapping[str, str], *, endpoint: str = "", namespace: str = "", token_file: str = "", ca_file: str = ""
) -> Connection:
    """A connection by what is given, else by the environment, else by what the cluster put into the pod.

    Raises:
        InputError: no address is known, or it is none; or the authority's file holds none.
    """
    address = endpoint or next((environment[name] for name in ENDPOINTS if environment.get(name)), "")
    if not address:
        raise InputError(f"no Kubeflow Pipelines server is known: give --endpoint or set {ENDPOINTS[0]}.")
    if not re.fullmatch(r"https?://[^\s/@?#]+(/[^\s?#@]*)?", address):
        raise InputError("the endpoint must be http:// or https:// and a host, without credentials or a query.")
    _check_ca(ca_file)
    token = _token(environment, token_file)
    return Connection(endpoint=address.rstrip("/"), namespace=namespace, token=token, ca_file=ca_file)


def _token(environment: Mapping[str, str], given: str) -> Callable[[], str]:
    if not given and environment.get(TOKEN):
        value = _one_line(environment[TOKEN], TOKEN)
        return lambda: value
    path = Path(given or environment.get(TOKEN_FILE, "") or IN_CLUSTER_TOKEN)
    if not given and not path.exists():
        return lambda: ""
    return lambda: _read_token(path)


def _read_token(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the token file {path} can't be read ({type(error).__name__}).") from None
    return _one_line(text, f"the token file {path}")


def _one_line(text: str, where: str) -> str:
    """A token as a header can carry it."""
    token = text.strip()
    if not re.fullmatch("[!-~]*", token):
        raise InputError(f"{where} holds no token: one is a single word of ASCII letters, digits and signs.")
    return token


def _check_ca(file: str) -> None:
    import ssl

    try:
        if file:
            ssl.create_default_context(cafile=file)
    except OSError as error:  # ssl's errors are such, too
        raise InputError(f"the file of the authority, {file}, holds no PEM ({type(error).__name__}).") from None


def _untrusted(error: Exception) -> bool:
    import ssl

    reason = getattr(error, "reason", error)
    return any(isinstance(inner, ssl.SSLCertVerificationError) for inner in (reason, *getattr(reason, "args", ())))
