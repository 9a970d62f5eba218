"""The private names of kfp that local runs rest on; pinned so that an upgrade of kfp says what moved."""

import logging
from collections.abc import Callable
from pathlib import Path

import kfp
import pytest
from kfp import dsl, local
from kfp.local import config, executor_input_utils, subprocess_task_handler

from leakscape.local.kfp_runner import task_handler, task_of

Pipeline = Callable[[], object]


@pytest.fixture(scope="module")
def pipeline():
    @dsl.container_component
    def say(text: str) -> dsl.ContainerSpec:
        return dsl.ContainerSpec(
            image="registry.example/base@sha256:0", command=["say"], args=[text, "--executor-input", "{{$}}"]
        )

    @dsl.pipeline(name="toy")
    def made() -> None:
        first = say(text="one").set_env_variable("MOOD", "calm").set_memory_limit("1G")
        say(text="two").after(first)

    return made


def test_kfp_is_the_version_this_was_written_against() -> None:
    assert kfp.__version__ == "2.17.3"


def test_without_it_container_components_are_refused(pipeline: Pipeline, tmp_path: Path) -> None:
    local.init(local.SubprocessRunner(use_venv=False), pipeline_root=str(tmp_path))
    try:
        with (
            pytest.warns(UserWarning, match="have no effect in the current local runner"),
            pytest.warns(RuntimeWarning, match="non-Python base image"),
            pytest.raises(RuntimeError, match="only supports running Lightweight Python Components"),
        ):
            pipeline()
    finally:
        config.LocalExecutionConfig.instance = None


def test_tasks_reach_the_function_in_order(
    pipeline: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []

    def execute(task: str, command: list[str], env: dict[str, str]) -> bool:
        seen.append((task, command[:2], env))
        return True

    with task_handler(execute, folders={"say": tmp_path / "first"}, root=tmp_path):
        pipeline()
    assert seen == [("first", ["say", "one"], {"MOOD": "calm"}), ("say-2", ["say", "two"], {})]
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_a_failure_stops_the_pipeline_and_everything_is_put_back(pipeline: Pipeline, tmp_path: Path) -> None:
    before = (
        subprocess_task_handler.SubprocessTaskHandler,
        executor_input_utils.construct_local_task_root,
        config.LocalExecutionConfig.instance,
        logging.root.handlers[:],
    )
    seen = []
    with (
        pytest.raises(RuntimeError, match="Inner task failed"),
        task_handler(lambda task, _command, _env: bool(seen.append(task)), folders={}, root=tmp_path),
    ):
        pipeline()
    assert seen == ["say"]
    assert before == (
        subprocess_task_handler.SubprocessTaskHandler,
        executor_input_utils.construct_local_task_root,
        config.LocalExecutionConfig.instance,
        logging.root.handlers[:],
    )


def test_the_task_is_read_from_the_executor_input() -> None:
    assert task_of(["x", "--executor-input", '{"outputs": {"outputFile": "/a/step/executor_output.json"}}']) == "step"
