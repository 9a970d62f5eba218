"""The rubric: a versioned text file of ours, hashed into every result.

A changed text gets a new version; old versions stay, so that old judgements can be told from new ones. Paper 000 has a
language model judge privacy and quality too; its rubric is not public.
"""

import hashlib
from importlib import resources

from leakscape.errors import InputError
from leakscape.judging.judgement import SCHEMA, accept
from leakscape.judging.pairs import Pair
from leakscape.rewriting.job import Source, Stage
from leakscape.typed_json import dump_json

LATEST = "judge.v1"
CUE = "Judgement:"
SOURCE, REWRITTEN = "Source record:", "Rewritten record:"


def rubric(name: str = LATEST) -> str:
    """The text of a rubric file, for example `judge.v1`.

    Raises:
        InputError: there is no such rubric.
    """
    file = resources.files(__package__) / "rubrics" / f"{name}.txt"
    if not file.is_file():
        raise InputError(f"there is no rubric {name}; see leakscape/judging/rubrics.")
    return file.read_text(encoding="utf-8").strip()


def digest(name: str = LATEST) -> str:
    """SHA-256 over the rubric, what stands around the two records, and the answer's schema."""
    parts = [rubric(name), SOURCE, REWRITTEN, CUE, dump_json(dict(SCHEMA))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def source_of(pair: Pair) -> Source:
    """The two records of a pair as the text of a job."""
    return Source(id=pair.id, text=f"{SOURCE}\n{pair.source.text}\n\n{REWRITTEN}\n{pair.text}")


def stage(name: str = LATEST, *, structured: bool = True) -> Stage:
    """The one call that judging makes for each pair.

    Args:
        name: the rubric's.
        structured: ask the service to hold the model to the schema; without it the answer is only checked.
    """
    instruction = rubric(name)

    def prompt(text: str) -> str:
        return f"{instruction}\n\n{text}\n\n{CUE}"

    return Stage(name="judge", prompt=prompt, accept=accept, schema=SCHEMA if structured else None)
