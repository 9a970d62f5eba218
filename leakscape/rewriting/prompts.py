"""The prompts: versioned text files of ours, hashed into every result.

The paper's prompt texts are not public. These are our own wording of what paper 000 describes (section on rewriting
strategies). A changed text gets a new version; old versions stay, so that old results can be made again.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources

from leakscape.errors import InputError
from leakscape.rewriting import job

CUE = "Rewrite:"
EXEMPLARS = 2
"""How many format examples the expansion prompt gets (paper 000)."""


@dataclass(frozen=True)
class Stage:
    """One call to a model: which prompt it uses and whether it shows format exemplars."""

    name: str
    prompt: str
    exemplars: bool = False


STRATEGIES: dict[str, tuple[Stage, ...]] = {
    "rewrite": (Stage("rewrite", "rewrite.v1"),),
    "privacy-aware": (Stage("rewrite", "privacy-aware.v1"),),
    "summarise-expand": (Stage("summarise", "summarise.v1"), Stage("expand", "expand.v1", exemplars=True)),
    "privacy-aware-summarise-expand": (
        Stage("summarise", "summarise-privacy-aware.v1"),
        Stage("expand", "expand-privacy-aware.v1", exemplars=True),
    ),
}


def instruction(name: str) -> str:
    """The text of a prompt file, for example `rewrite.v1`.

    Raises:
        InputError: there is no such prompt.
    """
    file = resources.files(__package__) / "prompts" / f"{name}.txt"
    if not file.is_file():
        raise InputError(f"there is no prompt {name}; see leakscape/rewriting/prompts.")
    return file.read_text(encoding="utf-8").strip()


def stages(strategy: str, exemplars: Sequence[str] = ()) -> tuple[job.Stage, ...]:
    """What a job asks for a strategy; `exemplars` as for `build`.

    Raises:
        InputError: there is no such strategy.
    """
    return tuple(
        job.Stage(name=stage.name, prompt=partial(build, stage, exemplars=exemplars)) for stage in _of(strategy)
    )


def build(stage: Stage, source: str, exemplars: Sequence[str] = ()) -> str:
    """The whole prompt: instruction, exemplars where the stage shows them, the source record and the cue.

    Args:
        stage: which call this is.
        source: the record (or, for an expansion, its summary).
        exemplars: texts of the fresh-seed population; the first two are shown.

    Raises:
        InputError: the stage needs exemplars and there are too few.
    """
    parts = [instruction(stage.prompt)]
    if stage.exemplars:
        if len(exemplars) < EXEMPLARS:
            raise InputError(
                f"expansion shows {EXEMPLARS} format exemplars, but there are {len(exemplars)}; "
                "give synthea-gen a larger --exemplar-count."
            )
        parts += [f"Example {number}:\n{text}" for number, text in enumerate(exemplars[:EXEMPLARS], start=1)]
    return "\n\n".join([*parts, source, CUE])


def digest(strategy: str) -> str:
    """SHA-256 over the prompts that a strategy uses, the cue and the number of exemplars.

    Raises:
        InputError: there is no such strategy.
    """
    texts = [f"{stage.name}\n{stage.prompt}\n{instruction(stage.prompt)}" for stage in _of(strategy)]
    return hashlib.sha256("\0".join([*texts, CUE, str(EXEMPLARS)]).encode()).hexdigest()


def _of(strategy: str) -> tuple[Stage, ...]:
    if strategy not in STRATEGIES:
        raise InputError(f"there is no strategy {strategy}; there are {', '.join(STRATEGIES)}.")
    return STRATEGIES[strategy]
