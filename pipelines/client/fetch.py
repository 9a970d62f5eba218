"""A run's results, brought home from the place where the server keeps artifacts.

Kubeflow lays an artifact at ROOT/PIPELINE/RUN/TASK/.../OUTPUT. Its API does not tell where (that stands in its metadata
store alone), so the run's own folder is looked through. The landscape step is never taken from the cache, so every run
has its results in its own folder.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from leakscape import artifacts
from leakscape.errors import InputError
from leakscape.storage import Place, join, open_place
from pipelines.client.connection import Connection
from pipelines.client.runs import ENDED

ROOT = "LEAKSCAPE_PIPELINE_ROOT"

_TASK = "landscape"
_FOLDERS = {"landscape": "landscape.json", "verdict": "verdict.json"}
_PAGES = {"report": "report.html"}


def results(
    connection: Connection, run_id: str, out: Path, environment: Mapping[str, str], *, root: str = ""
) -> list[Path]:
    """Fetch landscape.json, verdict.json and report.html of a run into a folder.

    Args:
        connection: to the server.
        run_id: of the run.
        out: takes the files; those of another run are replaced.
        environment: where the root may stand.
        root: the pipeline root, where the run does not name one.

    Returns:
        The files.

    Raises:
        InputError: the run is under way, its root is not known, or it has no results; or a hash does not fit.
        TransientError: the server or the store is away.
    """
    run = connection.ask("run", "get_run", run_id)
    if str(run.state) not in ENDED:
        raise InputError(f"the run {run_id} is {str(run.state or 'unknown').lower()}; fetch it when it has ended.")
    named = (run.runtime_config.pipeline_root if run.runtime_config else "") or root or environment.get(ROOT, "")
    if not named:
        raise InputError(f"the run names no pipeline root: give --root s3://bucket/prefix, or set {ROOT}.")
    reference = run.pipeline_version_reference
    pipeline = connection.ask("pipeline", "get_pipeline", reference.pipeline_id).display_name
    place = join(named.replace("minio://", "s3://", 1), f"{pipeline}/{run_id}/{_TASK}")
    with open_place(place) as opened:
        return _fetch(opened, out)


def _fetch(place: Place, out: Path) -> list[Path]:
    names = place.names()
    out.mkdir(parents=True, exist_ok=True)
    files = []
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=out) as beside:
        for output, file in _FOLDERS.items():
            if inside := _below(names, f"{output}/{artifacts.MANIFEST}", place):
                made = Path(beside) / file
                _folder(place, names, inside, Path(beside) / output).joinpath(file).replace(made)
                files.append(made)
        for output, file in _PAGES.items():
            if found := _below(names, output, place):
                made = Path(beside) / file
                place.download(f"{found}{output}".removeprefix("./"), made)
                files.append(made)
        if not files:
            raise InputError(
                f"{place} holds no results; the run ended before its landscape, or lies elsewhere: --root."
            )
        return [file.replace(out / file.name) for file in files]


def _below(names: list[str], wanted: str, place: Place) -> str:
    """What stands before an output's name, ending with `/`, or './' for nothing; '' where there is no such output.

    Raises:
        InputError: there are several.
    """
    found = sorted({name.removesuffix(wanted) or "./" for name in names if f"/{name}".endswith(f"/{wanted}")})
    if len(found) > 1:
        raise InputError(f"{place} holds {wanted} {len(found)} times; fetch the one you mean from there by hand.")
    return found[0] if found else ""


def _folder(place: Place, names: list[str], before: str, into: Path) -> Path:
    """Fetch an artifact's folder, and verify it by its manifest."""
    prefix = f"{before}{into.name}/".removeprefix("./")
    for name in names:
        if name.startswith(prefix):
            file = into / name.removeprefix(prefix)
            file.parent.mkdir(parents=True, exist_ok=True)
            place.download(name, file)
    artifacts.load(into, schema=artifacts.read_manifest(into).schema)
    return into
