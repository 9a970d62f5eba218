"""Writes a condition's figures into the Kubeflow Model Registry, as properties of a model version."""

import warnings
from collections.abc import Mapping

from leakscape.errors import DependencyError, InputError, TransientError

_AUTHOR = "leakscape"
_BUSY = 500


def write_properties(
    properties: Mapping[str, str | float], *, address: str, model: str, version: str, token: str
) -> None:
    """Add properties to a model version; what it holds beside them stays, and doing it twice changes nothing.

    Args:
        properties: from `leakscape.gate.ways_out.properties`.
        address: of the registry, with its scheme: `http://model-registry-service.kubeflow:8080`.
        model: a registered model's name.
        version: the name of one of its versions.
        token: for the registry; empty where it asks for none.

    Raises:
        DependencyError: the library is not installed.
        InputError: there is no such model or version, or the token is refused.
        TransientError: the registry is away.
    """
    try:
        from aiohttp import ClientError
        from model_registry import ModelRegistry
        from model_registry.exceptions import StoreError
        from mr_openapi.exceptions import ApiException
    except ModuleNotFoundError:
        raise DependencyError("the Model Registry needs an extra: pip install 'leakscape[model-registry]'.") from None
    try:
        with warnings.catch_warnings():
            # It warns of a missing token; a registry within a cluster may ask for none.
            warnings.filterwarnings("ignore", "User access token is missing")
            registry = ModelRegistry(address, author=_AUTHOR, user_token=token or None)
        found = registry.get_model_version(model, version)
        if found is None:
            raise InputError(f"the model registry has no version {version} of {model}; register it first.")
        found.custom_properties = {**(found.custom_properties or {}), **properties}
        registry.update(found)
    except StoreError:
        raise InputError(f"the model registry at {address} has no model {model}, or wants a token.") from None
    except ApiException as error:
        status = int(error.status or _BUSY)
        if status >= _BUSY:
            raise TransientError(f"the model registry at {address} answered {status}; try again.") from None
        raise InputError(f"the model registry at {address} refused with {status}; check the token.") from None
    except (ClientError, OSError):
        raise TransientError(f"the model registry at {address} can't be reached; try again.") from None
