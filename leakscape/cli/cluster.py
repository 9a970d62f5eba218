"""`leakscape submit`, `schedule`, `runs`, `fetch` and `register`: audits on a Kubeflow Pipelines server."""

import argparse
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscape.cli.common import (
    AUDITS,
    add_images,
    add_json,
    add_plan_argument,
    answer,
    answer_json,
    command,
    graph_of,
    images_of,
)
from leakscape.errors import EXIT_DONE, InputError
from leakscape.progress import printable, say

if TYPE_CHECKING:
    from pipelines.client.connection import Connection
    from pipelines.client.pipeline import Compiled
    from pipelines.client.runs import Settings

_EXPERIMENT = "leakscape"


def add(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Add the commands."""
    _add_submit(commands)
    _add_schedule(commands)
    _add_runs(commands)
    _add_fetch(commands)
    _add_register(commands)


def _add_submit(commands: Any) -> None:  # noqa: ANN401
    made = command(
        commands,
        "submit",
        _submit,
        "Run a plan once on a Kubeflow Pipelines server.",
        "leakscape submit my-plan.yaml --endpoint http://localhost:8888 --wait",
    )
    _add_pipeline(made)
    made.add_argument(
        "--run-name", metavar="NAME", default="", help="what the run is called (default: the plan's name)"
    )
    made.add_argument(
        "--wait",
        action="store_true",
        help="until the run has ended; exits with 3 if its gate failed, else 1 if a step did",
    )
    add_json(made)


def _add_schedule(commands: Any) -> None:  # noqa: ANN401
    made = command(
        commands,
        "schedule",
        _schedule,
        "Run a plan again and again on a Kubeflow Pipelines server; a second time this changes nothing.",
        'leakscape schedule my-plan.yaml --cron "0 0 3 * * *" --refresh "[[ScheduledTime.2006-01-02]]"',
    )
    _add_pipeline(made)
    made.add_argument(
        "--cron",
        metavar="FIELDS",
        required=True,
        help="second, minute, hour, day of month, month, day of week: `0 0 3 * * *` is each day at three",
    )
    made.add_argument("--name", default="", help="of the schedule (default: the plan's name)")
    made.add_argument("--disable", action="store_true", help="keep the schedule, but let it run nothing")
    add_json(made)


def _add_runs(commands: Any) -> None:  # noqa: ANN401
    made = command(commands, "runs", _runs, "List the latest audits on a server.", "leakscape runs --plan laptop")
    made.add_argument("--plan", metavar="NAME", default="", help="a plan's name; all plans if left out")
    made.add_argument("--limit", metavar="N", type=_count, default=20, help="at most so many, from 1 (default 20)")
    _add_connection(made)
    add_json(made)


def _add_fetch(commands: Any) -> None:  # noqa: ANN401
    made = command(
        commands,
        "fetch",
        _fetch,
        "Bring a run's landscape.json, verdict.json and report.html here, their hashes verified.",
        "leakscape fetch 0f1e2d3c --root s3://bucket/prefix --out audits/nightly",
    )
    made.add_argument("run", metavar="RUN", help="the run's id, as `leakscape runs` shows it")
    made.add_argument("--out", metavar="DIR", type=Path, help="where they go (default: audits/RUN)")
    made.add_argument("--root", metavar="PLACE", default="", help="the pipeline root, where the run names none")
    _add_connection(made)
    add_json(made)


def _add_register(commands: Any) -> None:  # noqa: ANN401
    made = command(
        commands,
        "register",
        _register,
        "See that a server has the pipelines and schedules that a file lists; a second time this changes nothing.",
        "leakscape register registrations.yaml --check",
    )
    made.add_argument("file", metavar="FILE", type=Path, help="the list, as docs/registrations.md describes it")
    made.add_argument("--check", action="store_true", help="read the file and compile its plans, but send nothing")
    _add_connection(made)
    add_json(made)


def _add_pipeline(made: argparse.ArgumentParser) -> None:
    add_plan_argument(made)
    made.add_argument(
        "--param",
        dest="parameters",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of the pipeline, its value in YAML: a pool, tolerations, a secret's name; several times",
    )
    made.add_argument("--refresh", metavar="TEXT", default="", help="a new one makes every step run again")
    made.add_argument("--experiment", metavar="NAME", default=_EXPERIMENT, help="the runs' group in the UI")
    made.add_argument("--root", metavar="PLACE", default="", help="where artifacts go (default: the server's own)")
    made.add_argument("--service-account", metavar="NAME", default="", help="of the pods (default: the plan's)")
    add_images(made)
    _add_connection(made)


def _add_connection(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("server")
    group.add_argument("--endpoint", metavar="URL", default="", help="of the API (default: $LEAKSCAPE_KFP_ENDPOINT)")
    group.add_argument("--namespace", metavar="NS", default="", help="of the user, on a server with many")
    group.add_argument(
        "--token-file",
        metavar="FILE",
        default="",
        help="holds the token (default: $LEAKSCAPE_KFP_TOKEN, the pod's)",
    )
    group.add_argument("--ca-file", metavar="FILE", default="", help="PEM of the server's authority")


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"takes a whole number from 1, not {text}")
    return int(text)


def _connect(arguments: argparse.Namespace, **others: str) -> "Connection":
    from pipelines.client.connection import connect

    given = {name: getattr(arguments, name) for name in ("endpoint", "namespace", "token_file", "ca_file")}
    return connect(os.environ, **{name: value or others.get(name, "") for name, value in given.items()})


def _prepare(arguments: argparse.Namespace) -> "tuple[Compiled, Settings, str]":
    """The compiled pipeline, the settings of its runs, and the plan's name; everything checked before it is sent."""
    from pipelines.client.pipeline import compiled
    from pipelines.client.runs import Settings
    from pipelines.cluster import REFRESH
    from pipelines.source import value

    graph, contracts = graph_of(arguments)
    made = compiled(graph, contracts, images_of(arguments))
    given: dict[str, Any] = {REFRESH: arguments.refresh} if arguments.refresh else {}
    for text in arguments.parameters:
        name, separator, raw = text.partition("=")
        if not separator:
            raise InputError(f"--param {text}: write it as NAME=VALUE, for example --param 'gpu_pool={{pool: a100}}'.")
        given[name] = value(raw, name=f"--param {name}")
    settings = Settings(
        parameters=made.checked(given),
        service_account=arguments.service_account or made.service_account,
        pipeline_root=arguments.root,
        experiment=arguments.experiment,
    )
    return made, settings, graph.name


def _submit(arguments: argparse.Namespace) -> int:
    from pipelines.client.pipeline import upload
    from pipelines.client.runs import start, wait

    made, settings, name = _prepare(arguments)
    connection = _connect(arguments)
    uploaded = upload(connection, made)
    run = start(connection, uploaded, settings, name=arguments.run_name or name)
    told = {"run": run, "pipeline": made.name, "version": uploaded.version, "state": "PENDING"}
    code = EXIT_DONE
    if arguments.wait:
        say(f"waiting for the run {run}")
        told["state"], code = wait(connection, run)
    if arguments.json:
        answer_json(told)
    else:
        answer(f"{run}  {told['state'].lower()}" if arguments.wait else run)
    return code


def _schedule(arguments: argparse.Namespace) -> int:
    from pipelines.client import cron, schedules
    from pipelines.client.pipeline import upload

    expression = cron.check(arguments.cron)
    made, settings, plan = _prepare(arguments)
    connection = _connect(arguments)
    uploaded = upload(connection, made)
    wanted = schedules.Schedule(
        name=arguments.name or plan,
        pipeline_id=uploaded.pipeline_id,
        cron=expression,
        settings=settings,
        enabled=not arguments.disable,
    )
    change = schedules.apply(connection, wanted)
    if arguments.json:
        answer_json({"schedule": wanted.display_name, "change": change, "version": uploaded.version})
    else:
        answer(f"{change} {wanted.display_name}")
    return EXIT_DONE


def _runs(arguments: argparse.Namespace) -> int:
    from pipelines.client.runs import listed

    found = listed(_connect(arguments), plan=arguments.plan, limit=arguments.limit)
    if arguments.json:
        answer_json([asdict(run) for run in found])
    else:
        for run in found:
            answer(printable(f"{run.id}  {run.state.lower():<10} {run.created[:19]}  {run.pipeline}  {run.name}"))
    return EXIT_DONE


def _fetch(arguments: argparse.Namespace) -> int:
    from pipelines.client.fetch import results

    out = arguments.out or AUDITS / arguments.run
    files = results(_connect(arguments), arguments.run, out, os.environ, root=arguments.root)
    if arguments.json:
        answer_json({path.name: str(path) for path in files})
    else:
        for path in files:
            answer(path)
    return EXIT_DONE


def _register(arguments: argparse.Namespace) -> int:
    from components import contracts
    from pipelines.client.registrations import prepare, read, register

    found, source = read(arguments.file)
    prepared = prepare(found, source, contracts())
    if arguments.check:
        names = [{"name": one.registration.name, "pipeline": one.compiled.name} for one in prepared]
        if arguments.json:
            answer_json(names)
        else:
            answer(f"{len(names)} registrations fit.")
        return EXIT_DONE
    known = {name: getattr(found, name) for name in ("endpoint", "namespace", "token_file", "ca_file")}
    done = register(_connect(arguments, **known), found, prepared)
    if arguments.json:
        answer_json([asdict(one) for one in done])
    else:
        for one in done:
            answer(f"{one.change} {one.name}")
    return EXIT_DONE
