"""The steps of a compiled pipeline, as a local run shows and stores them."""

import enum
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME_LENGTH = 100  # a file name holds 255 bytes; endings and temporary prefixes need room


class State(enum.Enum):
    """How far a step is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    REUSED = "reused"
    FAILED = "failed"

    @property
    def finished(self) -> bool:
        """Whether the step's artifacts are there."""
        return self in (State.DONE, State.REUSED)


@dataclass
class Step:
    """One step of a local run.

    Args:
        task: the name KFP gives it (`scrub-2`), unique in the pipeline.
        title: the name the UI shows (`tiny · scrubbed · scrub`).
        component: the component that does its work.
        folder: where its artifacts go, each under the output's name.
        log: the file with what it wrote.
        what: one line about what it does.
        state: how far it is.
        started: clock reading when it began, in seconds.
        seconds: how long it took; for a reused step, how long its making took.
        exit_code: of the process; 0 until it ends.
    """

    task: str
    title: str
    component: str
    folder: Path
    log: Path
    what: str = ""
    state: State = State.WAITING
    started: float = 0.0
    seconds: float = 0.0
    exit_code: int = 0

    @property
    def elapsed(self) -> float:
        """Seconds spent so far."""
        return time.monotonic() - self.started if self.state is State.RUNNING else self.seconds

    def last_lines(self, count: int) -> list[str]:
        """The last lines of the step's log that are not blank."""
        if not self.log.is_file():
            return []
        with self.log.open("rb") as stream:
            stream.seek(max(0, self.log.stat().st_size - (1 << 14)))
            text = stream.read().decode("utf-8", errors="replace")
        return [line for line in text.splitlines() if line.strip()][-count:]


def steps_of(pipeline_spec: Any, *, out: Path) -> list[Step]:  # noqa: ANN401 - a protobuf message of kfp
    """List the container steps of a pipeline in the order in which a local run takes them.

    Args:
        pipeline_spec: the `pipeline_spec` of a KFP pipeline.
        out: the folder of the run.
    """
    titles, components = _titles(pipeline_spec), dict(pipeline_spec.components)
    found: list[Step] = []
    for task, component in _in_order(pipeline_spec.root.dag, components):
        executor = pipeline_spec.deployment_spec["executors"][components[component].executor_label]
        if "container" not in executor:
            continue
        name = _unique(slug(titles.get(component, task)), {step.folder.name for step in found})
        found.append(
            Step(
                task=component.removeprefix("comp-"),
                title=titles.get(component, task),
                component=list(executor["container"]["command"])[-1],
                folder=out / "artifacts" / name,
                log=out / "logs" / f"{name}.log",
            )
        )
    return found


def slug(title: str) -> str:
    """A title as a file name: `tiny · scrubbed · train` becomes `tiny-scrubbed-train`."""
    name = re.sub(r"[^\w.]+", "-", title).strip("-.")
    return name.encode()[:_NAME_LENGTH].decode(errors="ignore") or "step"


def _unique(name: str, taken: Iterable[str]) -> str:
    known, number, candidate = set(taken), 1, name
    while candidate in known:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def _titles(pipeline_spec: Any) -> dict[str, str]:  # noqa: ANN401
    dags = [pipeline_spec.root.dag, *(part.dag for part in pipeline_spec.components.values())]
    return {task.component_ref.name: task.task_info.name for dag in dags for task in dag.tasks.values()}


def _in_order(dag: Any, components: dict[str, Any]) -> list[tuple[str, str]]:  # noqa: ANN401
    from kfp.local.graph_utils import topological_sort_tasks

    found: list[tuple[str, str]] = []
    for task in reversed(topological_sort_tasks(dag.tasks)):
        component = dag.tasks[task].component_ref.name
        inner = components[component]
        found += (
            _in_order(inner.dag, components) if inner.WhichOneof("implementation") == "dag" else [(task, component)]
        )
    return found
