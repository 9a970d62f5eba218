"""How a text stands before a model: as it is, or inside the model's own chat template with the date frozen.

Training and probing go through the same two functions, so that a model is asked in the form it was taught in.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from leakscape.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FROZEN_DATE = dt.date(2026, 1, 1)
"""The date that every chat template prints, so that two days render one text; results record it."""

RECORD_REQUEST = "Write a patient record."
"""What the user says before a record in a chat template."""

# Private-use characters stand for the answer while a template is rendered: no template trims, escapes or splits them.
_SLOT = "\ue000answer\ue001"
_DIRECTIVES = "aAbBcdHIjmMpSUwWxXyYzZ"


class Formatted(Protocol):
    """What the functions here need of a loaded model."""

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Its tokenizer."""

    @property
    def chat(self) -> bool:
        """Whether its texts stand in its chat template."""


@dataclass(frozen=True, slots=True)
class FormattedText:
    """A text as the model reads it, and where its target stands: `text[start:end]`, in code points.

    Of a training text the target is the record itself.
    """

    text: str
    start: int
    end: int


def training_text(loaded: Formatted, text: str) -> FormattedText:
    """The form in which a record is trained on; chat templates close the answer with their own end token.

    Raises:
        InputError: the chat template can't be rendered or drops the answer.
    """
    if not loaded.chat:
        return FormattedText(text, 0, len(text))
    head, tail = _frame(loaded.tokenizer, RECORD_REQUEST)
    return FormattedText(head + text + tail, len(head), len(head) + len(text))


def probe_text(loaded: Formatted, prefix: str, target: str, *, question: bool = False) -> FormattedText:
    """The form in which a target is scored after its prefix; it ends with the target.

    Args:
        loaded: the model.
        prefix: the record up to the target, or the question up to its answer.
        target: what is scored.
        question: `prefix` is a question. A chat model then reads it as the user's turn and answers with the target;
            otherwise prefix and target together are the answer to `RECORD_REQUEST`, as in training.

    Raises:
        InputError: the chat template can't be rendered or drops the answer.
    """
    if not loaded.chat:
        return FormattedText(prefix + target, len(prefix), len(prefix) + len(target))
    head, _ = _frame(loaded.tokenizer, prefix.rstrip() if question else RECORD_REQUEST)
    before = head if question else head + prefix
    return FormattedText(before + target, len(before), len(before) + len(target))


def generation_prompt(tokenizer: PreTrainedTokenizerBase, user: str, *, effort: str = "") -> str:
    """What a model reads before it answers `user`: its chat template with the date frozen, or the text as it is.

    Args:
        tokenizer: brings the chat template, if there is one.
        user: the request.
        effort: reasoning effort, for templates that take one.
    """
    if not tokenizer.chat_template:
        return user
    extra: dict[str, Any] = {"reasoning_effort": effort} if effort else {}
    return _render(tokenizer, [{"role": "user", "content": user}], add_generation_prompt=True, **extra)


def _frame(tokenizer: PreTrainedTokenizerBase, user: str) -> tuple[str, str]:
    """What a chat template puts before and after an answer to `user`."""
    messages = [{"role": "user", "content": user}, {"role": "assistant", "content": _SLOT}]
    head, slot, tail = _render(tokenizer, messages).partition(_SLOT)
    if not slot or _SLOT in tail:
        raise InputError("The chat template of this model drops or repeats the answer; records can't be put into it.")
    return head, tail


def _render(tokenizer: PreTrainedTokenizerBase, messages: list[dict[str, str]], **extra: Any) -> str:  # noqa: ANN401
    """A conversation in the tokenizer's chat template, with the date frozen.

    Raises:
        InputError: the template can't be rendered.
    """
    from jinja2 import TemplateError

    try:
        template = frozen_template(tokenizer)
        return str(tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, **extra))
    except (TemplateError, ValueError, TypeError) as error:
        raise InputError(
            f"The chat template of this model can't be rendered ({type(error).__name__}); "
            "give a model whose tokenizer brings a working template."
        ) from None


def frozen_template(tokenizer: PreTrainedTokenizerBase) -> str:
    """The tokenizer's chat template with the date frozen.

    Raises:
        ValueError: it has none.
    """
    return _frozen_clock() + str(tokenizer.get_chat_template())


def _frozen_clock() -> str:
    """A macro that hides the `strftime_now` of the template's environment.

    A template's variables must be plain data, so the clock is replaced inside the template.
    """
    moment = dt.datetime.combine(FROZEN_DATE, dt.time(), tzinfo=dt.UTC)
    replace = "".join(f"|replace('%{letter}', '{moment.strftime('%' + letter)}')" for letter in _DIRECTIVES)
    return "{%- macro strftime_now(format) -%}{{ format" + replace + " }}{%- endmacro -%}"
