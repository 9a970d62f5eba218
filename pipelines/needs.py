"""What the steps of a graph need of a cluster, as the parameters of the preflight and of the finishing task."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from leakscape import __version__
from leakscape.storage import is_s3
from pipelines.compose import Graph, Step
from pipelines.placement import Place, from_hub, works_without_model

SOURCE = "path"
"""The parameter that names where the data come from."""


def of_preflight(found: Graph, places: Mapping[str, Place]) -> dict[str, Any]:
    """The preflight's parameters: models, credentials, places to store in, and accelerators."""
    largest = most_demanding(places.values())
    wanted: dict[str, Any] = {
        "models": list(dict.fromkeys(name for step in found.steps for name in _models(step))),
        "trust_remote_code": any(step.parameters.get("trust_remote_code") for step in found.steps),
        "variables": list(dict.fromkeys(name for step in found.steps for name in _variables(step))),
        "places": storage_places(found.steps),
        "sources": sources(found.steps),
        "accelerators": largest.accelerators,
        "version": __version__,
    }
    return wanted | ({"accelerator": largest.accelerator} if largest.accelerators else {})


def of_finish(found: Graph) -> dict[str, Any]:
    """The finishing task's parameters."""
    return {"plan": found.name, "places": storage_places(found.steps)}


def most_demanding(places: Iterable[Place]) -> Place:
    """The place with the most accelerators, the first of equal ones: what it gets, the others get too."""
    return max(places, key=lambda place: place.accelerators)


def all_secrets(places: Iterable[Place]) -> dict[str, tuple[str, ...]]:
    """The credentials that any step gets, by kind."""
    found: dict[str, tuple[str, ...]] = {}
    for place in places:
        for kind, names in place.secrets.items():
            found[kind] = tuple(dict.fromkeys((*found.get(kind, ()), *names)))
    return found


def storage_places(steps: Iterable[Step]) -> list[str]:
    """The S3 places that steps write to: all that they are given but the source of the data."""
    return _places(steps, lambda name: name != SOURCE)


def sources(steps: Iterable[Step]) -> list[str]:
    """The S3 places that the data come from; they may be closed to writing."""
    return _places(steps, lambda name: name == SOURCE)


def _places(steps: Iterable[Step], wanted: Callable[[str], bool]) -> list[str]:
    values = (value for step in steps for name, value in step.parameters.items() if wanted(name))
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and is_s3(value)))


def _models(step: Step) -> Iterator[str]:
    """Models that a step loads itself: by id with its revision, or by path; not an endpoint's."""
    if works_without_model(step.parameters):
        return
    name = step.parameters.get("model")
    if isinstance(name, str) and name:
        revision = step.parameters.get("revision", "")
        yield f"{name}@{revision}" if revision and from_hub(name) else name


def _variables(step: Step) -> Iterator[str]:
    """Credentials that a step can't do without: an endpoint of one's own may want none, a public one always does."""
    if step.parameters.get("backend") == "openai" and not step.parameters.get("base_url"):
        yield str(step.parameters["key_variable"])
