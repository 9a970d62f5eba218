"""kfp.local, made to run container components as plain subprocesses. Every private name of kfp stands here.

`SubprocessRunner` refuses container components and images without Python. Inside `task_handler` both checks are
relaxed: the container's command line runs on this machine instead. Written against kfp 2.17.3, which pyproject pins.
"""

import contextlib
import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Execute = Callable[[str, Sequence[str], Mapping[str, str]], bool]


@contextlib.contextmanager
def task_handler(execute: Execute, *, folders: Mapping[str, Path], root: Path) -> Iterator[None]:
    """Let kfp run every container task of a pipeline that is called inside this context by `execute`.

    Args:
        execute: takes the task's name, its command line and its environment variables; gives whether it succeeded.
        folders: where each task puts its artifacts and its executor output, by the task's name.
        root: kfp's pipeline root, for tasks without a folder.
    """
    from kfp import local
    from kfp.local import config, executor_input_utils, status, subprocess_task_handler

    class Handler(subprocess_task_handler.SubprocessTaskHandler):  # type: ignore[misc]
        def validate_image(self, image: str) -> None:
            """Nothing of the image is used."""

        def validate_not_container_component(self, full_command: list[str]) -> None:
            """The command line is all we need."""

        def run(self) -> Any:  # noqa: ANN401 - kfp's own enum
            done = execute(task_of(self.full_command), self.full_command, self.env_vars)
            return status.Status.SUCCESS if done else status.Status.FAILURE

    kfp_root = executor_input_utils.construct_local_task_root

    def task_root(pipeline_root: str, pipeline_resource_name: str, task_resource_name: str) -> str:
        own = folders.get(task_resource_name)
        return str(own) if own else str(kfp_root(pipeline_root, pipeline_resource_name, task_resource_name))

    with (
        _replaced(subprocess_task_handler, "SubprocessTaskHandler", Handler),
        _replaced(executor_input_utils, "construct_local_task_root", task_root),
        _replaced(config.LocalExecutionConfig, "instance", None),
        _silent(),
    ):
        local.init(local.SubprocessRunner(use_venv=False), pipeline_root=str(root), raise_on_error=True)
        yield


def task_of(command: Sequence[str]) -> str:
    """The name of the folder that a task's executor output goes to."""
    executor_input = json.loads(command[command.index("--executor-input") + 1])
    return Path(executor_input["outputs"]["outputFile"]).parent.name


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: object) -> Iterator[None]:  # noqa: ANN401
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep kfp from writing to the terminal: the view shows the steps, and their logs are files.

    It prints, logs to stdout and warns of settings (memory, accelerators) that have no effect here.
    """
    handlers = logging.root.handlers[:]
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.root.handlers[:] = handlers
