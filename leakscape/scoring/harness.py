"""Benchmarks of general ability: tasks of lm-evaluation-harness, run by that library on a model in memory.

    with opened(request) as tasks:  # tasks and their data first: what is missing shows before any work
        results = run_tasks(loaded, tasks, request)

The library prompts, scores and aggregates. Ours are: probabilities in float32, a frozen date in chat templates, one
BOS, seeds of its own for each task, and that nothing is asked of the hub but the data of the tasks that were named.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leakscape.errors import InputError, LeakscapeError
from leakscape.models.formatting import frozen_template
from leakscape.progress import track
from leakscape.scoring.engine import scoring
from leakscape.scoring.harness_tasks import own_randomness, silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from leakscape.models.load import LoadedModel
    from leakscape.scoring.harness_tasks import BenchmarkRequest

BOOTSTRAP = 1_000
"""Resamples behind a standard error that has no closed form (of a median, F1, perplexity)."""

_PREFERRED = ("acc_norm", "acc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """The primary metric of a task: acc_norm, else acc, else its first.

    Args:
        metric: its name.
        value: finite.
        stderr: its standard error, in closed form or of `BOOTSTRAP` resamples; None where there is none.
        n: documents.
        higher_is_better: which way is better.
        version: of the task.
        fewshot: solved examples before each document.
    """

    metric: str
    value: float
    stderr: float | None
    n: int
    higher_is_better: bool
    version: str
    fewshot: int


def run_tasks(loaded: LoadedModel, tasks: Mapping[str, Any], request: BenchmarkRequest) -> dict[str, Benchmark]:
    """Run opened tasks, in their order; each has the same result whichever others there are.

    Raises:
        InputError: a task can't be run on this model, or the device's memory is too small.
        LeakscapeError: a metric is no finite number.
    """
    if not tasks:
        return {}
    lm = _wrapped(loaded, request.batch_size)
    found = {}
    for name, task in track(tasks.items(), total=len(tasks), what="benchmarks"):
        with silent(), own_randomness(request.seed), scoring(loaded.model), _ran(name):
            found[name] = _run(lm, name, task, request, chat=loaded.chat)
    return found


def _run(lm: Any, name: str, task: Any, request: BenchmarkRequest, *, chat: bool) -> Benchmark:  # noqa: ANN401
    import lm_eval

    own = task.get_config("num_fewshot")
    if own is None or (own and request.harness_fewshot >= 0):
        task.set_config("num_fewshot", max(0, request.harness_fewshot))
    task.set_fewshot_seed(seed=request.seed)
    came = lm_eval.evaluate(
        lm=lm,
        task_dict={"tasks": {name: task}},
        limit=request.harness_limit or None,
        bootstrap_iters=BOOTSTRAP,
        log_samples=False,
        apply_chat_template=chat,
        fewshot_as_multiturn=chat,
    )
    if came is None:
        raise LeakscapeError(f"the task {name} gave no result.")
    return _benchmark(name, came)


def _benchmark(name: str, came: Mapping[str, Any]) -> Benchmark:
    """Read a result, whose keys are `METRIC,FILTER` and `METRIC_stderr,FILTER`."""
    figures = came["results"][name]
    keys = [key for key in figures if "," in key and not key.partition(",")[0].endswith("_stderr")]
    if not keys:
        raise InputError(f"The task {name} has no metric; leave it out of --harness-tasks.")
    preferred = [key for metric in _PREFERRED for key in keys if key.partition(",")[0] == metric]
    metric, _, filtered = (preferred or keys)[0].partition(",")
    better = came["higher_is_better"][name].get(metric)
    if not isinstance(better, bool):
        raise InputError(f"The task {name} does not say whether more {metric} is better; add it to its YAML file.")
    error = _number(figures.get(f"{metric}_stderr,{filtered}"))
    value = _number(figures[f"{metric},{filtered}"])
    if value is None or not math.isfinite(value):
        raise LeakscapeError(f"The task {name}: {metric} is no finite number, so it can't be stated.")
    return Benchmark(
        metric=metric,
        value=value,
        stderr=error if error is not None and math.isfinite(error) else None,
        n=int(came["n-samples"][name]["effective"]),
        higher_is_better=better,
        version=str(came["versions"][name]),
        fewshot=int(came["n-shot"][name] or 0),
    )


def _number(value: Any) -> float | None:  # noqa: ANN401 - the library puts "N/A" where there is none
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _wrapped(loaded: LoadedModel, batch_size: int) -> Any:  # noqa: ANN401
    """The model as the library wants it."""
    import torch
    from lm_eval.models.huggingface import HFLM

    class OneBos(HFLM):  # type: ignore[misc]
        """Puts one BOS before a text whose every token is scored, where the library puts it before the tokenizer's."""

        add_bos_token: bool | None

        def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> list[float]:  # noqa: ANN401
            was, self.add_bos_token = self.add_bos_token, False
            try:
                return list(super().loglikelihood_rolling(requests, disable_tqdm=disable_tqdm))
            finally:
                self.add_bos_token = was

    return OneBos(
        pretrained=loaded.model,
        tokenizer=loaded.tokenizer,
        backend="causal",
        batch_size=batch_size,
        softmax_dtype=torch.float32,
        chat_template_args={"chat_template": frozen_template(loaded.tokenizer)} if loaded.chat else None,
    )


@contextlib.contextmanager
def _ran(name: str) -> Iterator[None]:
    """Say which task could not be run; what the library threw may quote a document."""
    import torch

    try:
        yield
    except (LeakscapeError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # noqa: BLE001
        raise InputError(
            f"The task {name} can't be run on this model ({type(error).__name__}): a document may be too long for it, "
            "or an answer has no token of its own under its tokenizer; leave the task out of --harness-tasks."
        ) from None
