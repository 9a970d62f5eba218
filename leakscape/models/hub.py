"""What went wrong between us and the model hub, told from the exceptions of the libraries that ask it."""

from collections.abc import Iterator

_MISSING = {
    "DatasetNotFoundError",
    "GatedRepoError",
    "HFValidationError",
    "RepositoryNotFoundError",
    "RevisionNotFoundError",
}
_AWAY = {"ConnectError", "ConnectionError", "HfHubHTTPError", "LocalEntryNotFoundError", "ProxyError", "Timeout"}


def is_missing(error: BaseException) -> bool:
    """Whether the hub has no such thing, or not for us."""
    return bool(_names(error) & _MISSING)


def is_gated(error: BaseException) -> bool:
    """Whether the hub asks for a licence to be accepted first."""
    return "GatedRepoError" in _names(error)


def is_away(error: BaseException) -> bool:
    """Whether the hub could not be reached or was busy."""
    return bool(_names(error) & _AWAY)


def _names(error: BaseException) -> set[str]:
    """The names of the exception's classes, and of those that it came of."""
    return {kind.__name__ for link in _chain(error) for kind in type(link).__mro__}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
