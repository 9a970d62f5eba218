"""The tasks of lm-evaluation-harness that a run names, opened with their data before anything expensive is done."""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscape.errors import ContractError, DependencyError, InputError, TransientError
from leakscape.models import hub
from leakscape.records.outside import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

_YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRequest:
    """Which tasks to run, and how.

    Args:
        harness_tasks: names of the library's tasks, groups or tags, and paths of YAML files or of folders with such
            files; a path holds a `/` or ends in `.yaml`.
        harness_limit: documents of each task, the first ones; 0 for all.
        harness_fewshot: solved examples before each document; -1 for what the task says. A task that says 0 keeps it.
        batch_size: texts in one forward pass.
        seed: of the examples drawn, and of sampled answers.
    """

    harness_tasks: Sequence[str]
    harness_limit: int
    harness_fewshot: int
    batch_size: int
    seed: int


@contextlib.contextmanager
def opened(request: BenchmarkRequest) -> Iterator[dict[str, Any]]:
    """The library's task objects by name, with their data.

    Data files that a YAML file names without a full path lie in the folder of that file, or in the one that was given.
    What the library makes of a path's data goes when the context ends.

    Raises:
        ContractError: a task is named twice.
        DependencyError: a task needs a library that is not installed.
        InputError: there is no such task, it or its data can't be loaded, or it runs what a model wrote.
        TransientError: a task's data could not be fetched.
    """
    tasks: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        names = [name for name in request.harness_tasks if not is_path(name)]
        manager = _manager() if names else None
        for wanted in request.harness_tasks:
            with own_randomness(request.seed):  # a task's own code may draw
                found = _of_path(wanted, stack) if manager is None or is_path(wanted) else _of_name(wanted, manager)
            for name, task in found.items():
                if name in tasks:
                    raise ContractError(f"--harness-tasks names the task {name} twice; name it once.")
                _check(name, task)
                tasks[name] = task
        yield tasks


def task_hashes(request: BenchmarkRequest) -> dict[str, str]:
    """The content hash of each path among the tasks, for a manifest: a name of the library comes with its version."""
    return {text: content_hash(Path(text).expanduser()) for text in request.harness_tasks if is_path(text)}


def is_path(wanted: str) -> bool:
    """Whether an entry of `harness_tasks` is a path, not a name of the library."""
    return "/" in wanted or wanted.endswith(_YAML)


def _manager() -> Any:  # noqa: ANN401
    """The index of the library's own tasks; reading its files takes some ten seconds."""
    from lm_eval.tasks import TaskManager

    return TaskManager()


def _of_name(name: str, manager: Any) -> dict[str, Any]:  # noqa: ANN401
    if name not in manager.task_index:
        raise InputError(
            f"lm-evaluation-harness has no task {name}; `lm_eval ls tasks` lists them, and a task of your own is given "
            "by its path."
        )
    with silent(), _explained(name):
        return dict(manager.load([name])["tasks"])


def _of_path(text: str, stack: contextlib.ExitStack) -> dict[str, Any]:
    from lm_eval.tasks import TaskManager

    path = Path(text).expanduser().resolve()
    if not path.is_dir() and not (path.is_file() and path.suffix in _YAML):
        raise InputError(f"--harness-tasks: {text} is no folder and no YAML file.")
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="leakscape-"))
    manager = TaskManager(include_path=str(path if path.is_dir() else path.parent), include_defaults=False)
    files = {entry.yaml_path: entry.name for entry in manager.task_index.values() if entry.yaml_path}
    wanted = [path] if path.is_file() else _yaml_files(path)
    tasks: dict[str, Any] = {}
    for file in wanted:
        if file not in files:
            raise InputError(
                f"{file} describes no task or group, or one whose name another file has; give a file that others "
                "include a name that begins with _."
            )
        if path.is_dir() and files[file] in manager.all_groups:
            continue  # its tasks stand in the folder
        with silent(), _explained(files[file]), contextlib.chdir(file.parent), _cache(scratch):
            tasks |= manager.load([files[file]])["tasks"]
    if not tasks:
        raise InputError(f"--harness-tasks: {text} holds no YAML file that describes a task.")
    return tasks


def _yaml_files(folder: Path) -> list[Path]:
    """The files that should describe tasks, in order; the library passes over broken ones without a word."""
    files = sorted(file for ending in _YAML for file in folder.rglob(f"*{ending}"))
    return [file for file in files if not file.name.startswith(("_", "."))]


def _check(name: str, task: Any) -> None:  # noqa: ANN401
    if getattr(task, "UNSAFE_CODE", False):
        raise InputError(f"The task {name} runs code that the model writes; leave it out of --harness-tasks.")
    if getattr(task, "MULTIMODAL", False):
        raise InputError(f"The task {name} shows pictures or sound; leave it out of --harness-tasks.")


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """No bars, no lines on stdout, no counting of downloads, no pool of processes for a bootstrap."""
    import datasets

    bars = datasets.utils.logging.is_progress_bar_enabled()
    counted, datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = datasets.config.HF_UPDATE_DOWNLOAD_COUNTS, False
    alone = os.environ.get("DISABLE_MULTIPROC")
    os.environ["DISABLE_MULTIPROC"] = "1"
    datasets.disable_progress_bars()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        if bars:
            datasets.enable_progress_bars()
        datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = counted
        if alone is None:
            del os.environ["DISABLE_MULTIPROC"]
        else:
            os.environ["DISABLE_MULTIPROC"] = alone


@contextlib.contextmanager
def _cache(folder: str) -> Iterator[None]:
    """Keep what is made of local data out of the user's cache: it costs seconds to make and may be private."""
    import datasets

    was, datasets.config.HF_DATASETS_CACHE = datasets.config.HF_DATASETS_CACHE, Path(folder)
    try:
        yield
    finally:
        datasets.config.HF_DATASETS_CACHE = was


@contextlib.contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turn what the library or a task's own code throws while a task loads into one sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise DependencyError(f"The task {name} needs {error.name}, which is not installed here.") from None
    except Exception as error:  # noqa: BLE001
        offline = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("HF_DATASETS_OFFLINE")
        if hub.is_away(error) and not hub.is_missing(error) and not offline:
            raise TransientError(
                f"The data of the task {name} could not be fetched from the hub; try again, or give a task with local "
                "data."
            ) from None
        raise InputError(
            f"The task {name} or its data can't be loaded ({type(error).__name__}); check its YAML file and that its "
            "data can be reached from here."
        ) from None


@contextlib.contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """Seed the generators that tasks and the library draw from, and put them back."""
    import numpy as np
    import torch

    plain, array = random.getstate(), np.random.get_state()  # noqa: NPY002 - the library's generator
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            np.random.seed(seed % 2**32)  # noqa: NPY002
            random.seed(seed)
            yield
    finally:
        random.setstate(plain)
        np.random.set_state(array)  # noqa: NPY002
