"""Many pipelines and schedules, stated in one file and kept as it says; docs/registrations.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from leakscape.contract import IMAGES
from leakscape.errors import InputError, PlanError
from pipelines import audit, images, source
from pipelines.client import cron, schedules
from pipelines.client.connection import Connection
from pipelines.client.pipeline import Compiled, compiled, upload
from pipelines.client.runs import EXPERIMENT, Settings
from pipelines.cluster import REFRESH
from pipelines.faults import Fault, refuse
from pipelines.parameters import Contracts
from pipelines.plan import load, schema_fault
from pipelines.schema import Slug
from pipelines.strict import Strict

Reference = Annotated[str, Field(pattern=r"^[^\s@]+(@sha256:[0-9a-f]{64})?$")]


class When(Strict):
    """A schedule."""

    cron: str
    enabled: bool = True
    max_concurrency: Annotated[int, Field(ge=1, le=10)] = 1
    no_catchup: bool = True


class Registration(Strict):
    """A plan whose pipeline is uploaded and, with a schedule, run again and again."""

    name: Slug
    plan: Annotated[str, Field(min_length=1)]
    overrides: list[str] = Field(default_factory=list, alias="set")
    parameters: dict[str, Any] = Field(default_factory=dict)
    refresh: str = ""
    schedule: When | None = None


class Registrations(Strict):
    """The file; its parameters go to every pipeline that has them, those of a registration must be there."""

    schema_: Literal["leakscape/registrations/1"] = Field(alias="schema")
    endpoint: str = ""
    namespace: str = ""
    token_file: str = ""
    ca_file: str = ""
    owner: Slug
    experiment: Annotated[str, Field(min_length=1)] = EXPERIMENT
    service_account: str = ""
    pipeline_root: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    prune: bool = False
    images: dict[Literal["base", "train", "rewrite", "evaluate"], Reference] = Field(default_factory=dict)
    dev: bool = False
    registrations: list[Registration]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A registration whose plan compiles."""

    registration: Registration
    compiled: Compiled
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class Done:
    """What became of a registration, or of a recurring run that the file no longer lists."""

    name: str
    change: str
    version: str = ""


def read(path: Path) -> tuple[Registrations, source.Source]:
    """Read a file of registrations.

    Raises:
        PlanError: with file and line of everything that does not fit.
    """
    found = source.read(path)
    try:
        registrations = Registrations.model_validate(found.data)
    except ValidationError as error:
        refuse(found, [schema_fault(dict(one), Registrations) for one in error.errors(include_url=False)])
    names = [one.name for one in registrations.registrations]
    faults = [
        Fault(("registrations", index, "name"), f"is `{name}` like another one; give it a name of its own.")
        for index, name in enumerate(names)
        if name in names[:index]
    ]
    for index, one in enumerate(registrations.registrations):
        if one.schedule is not None:
            faults += _cron_faults(one.schedule.cron, ("registrations", index, "schedule", "cron"))
    if faults:
        refuse(found, faults)
    return registrations, found


def _cron_faults(expression: str, place: source.Place) -> list[Fault]:
    try:
        cron.check(expression)
    except InputError as error:
        return [Fault(place, f"does not fit: {error}")]
    return []


def prepare(found: Registrations, read_from: source.Source, contracts: Contracts) -> list[Prepared]:
    """Compile every plan; nothing is sent.

    Raises:
        PlanError: a plan or a parameter does not fit, or two plans of one name differ.
        InputError: an image has no digest.
    """
    names = _images(found)
    prepared, seen = [], dict[str, tuple[str, str]]()
    for index, one in enumerate(found.registrations):
        where = read_from.where(("registrations", index))
        try:
            plan = load(one.plan, overrides=one.overrides, contracts=contracts)
            made = compiled(audit.graph(plan, contracts), contracts, names)
            shared = {name: value for name, value in found.parameters.items() if name in made.inputs}
            own = {**one.parameters, **({REFRESH: one.refresh} if one.refresh else {})}
            given = made.checked({**shared, **own})
        except InputError as error:
            raise PlanError(f"{where}: {one.name}: {error}") from None
        first, digest = seen.setdefault(made.name, (one.name, made.digest))
        if digest != made.digest:
            raise PlanError(
                f"{where}: {one.name} and {first} compile to two pipelines of one name, {made.name}; give one plan "
                "another name: `set: [name=...]`."
            )
        prepared.append(Prepared(registration=one, compiled=made, settings=_settings(found, made, given)))
    return prepared


def register(connection: Connection, found: Registrations, prepared: list[Prepared]) -> list[Done]:
    """See that the server has what the file says; a second time nothing changes."""
    done = []
    for one in prepared:
        uploaded = upload(connection, one.compiled)
        change: str = "unchanged" if not uploaded.new else "created" if uploaded.first else "updated"
        if one.registration.schedule is not None:
            change = schedules.apply(connection, _schedule(found, one, uploaded.pipeline_id))
            if uploaded.new and change == "unchanged":
                change = "updated"
        done.append(Done(name=one.registration.name, change=change, version=uploaded.version))
    if found.prune:
        kept = {f"{found.owner}-{one.name}" for one in found.registrations if one.schedule is not None}
        others = set(schedules.names_of(connection, found.owner)) - kept
        done += [Done(name=name, change="disabled") for name in schedules.disable(connection, found.owner, others)]
    return done


def _schedule(found: Registrations, one: Prepared, pipeline_id: str) -> schedules.Schedule:
    when = one.registration.schedule
    if when is None:
        raise ValueError("a registration without a schedule")
    return schedules.Schedule(
        name=one.registration.name,
        pipeline_id=pipeline_id,
        cron=when.cron,
        settings=one.settings,
        owner=found.owner,
        enabled=when.enabled,
        max_concurrency=when.max_concurrency,
        no_catchup=when.no_catchup,
    )


def _settings(found: Registrations, made: Compiled, parameters: Mapping[str, Any]) -> Settings:
    return Settings(
        parameters=parameters,
        service_account=found.service_account or made.service_account,
        pipeline_root=found.pipeline_root,
        experiment=found.experiment,
    )


def _images(found: Registrations) -> dict[str, str]:
    named: dict[str, str] = {str(name): image for name, image in found.images.items()}
    names = named if len(named) == len(IMAGES) else {**images.images(dev=found.dev), **named}
    bare = [name for name, image in names.items() if not images.by_digest(image)]
    if bare and not found.dev:
        raise InputError(f"the images {', '.join(bare)} have no digest; name them by digest, or set `dev: true`.")
    return names
