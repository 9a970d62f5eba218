"""Text to tokens: one BOS where the model has one, and a character span for each token."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakscape.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenised text.

    Args:
        ids: token ids, the BOS first where there is one.
        offsets: for each token the code points `[start, end)` it stands for; a BOS that was added stands for (0, 0).
    """

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


def tokenise(tokenizer: PreTrainedTokenizerBase, text: str, *, chat: bool = False) -> Tokens:
    """Tokenise a whole text once.

    A plain text gets the tokenizer's BOS, if it has one. A text rendered by a chat template gets one only if the
    tokenizer itself would add it and the template did not.

    Args:
        tokenizer: of the fast kind, which knows offsets.
        text: as `formatting` made it.
        chat: the text was rendered by a chat template.

    Raises:
        InputError: the text itself holds the BOS token.
    """
    encoded = tokenizer(
        text, add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False, verbose=False
    )
    ids = list(encoded["input_ids"])
    offsets = [(int(start), int(end)) for start, end in encoded["offset_mapping"]]
    bos = tokenizer.bos_token_id
    if bos is None:
        return Tokens(tuple(ids), tuple(offsets))
    begins = ids[:1] == [bos]
    if not begins and (not chat or _adds_bos(tokenizer)):
        ids, offsets = [bos, *ids], [(0, 0), *offsets]
        begins = True
    if ids.count(bos) != int(begins) or (not chat and offsets[0] != (0, 0)):
        raise InputError("A text holds the model's BOS token; take special tokens out of the records.")
    return Tokens(tuple(ids), tuple(offsets))


def tokenizer_hash(tokenizer: PreTrainedTokenizerBase) -> str:
    """SHA-256 over all that steers tokenisation: the rules and vocabulary, the special tokens, the chat template."""
    rules = json.loads(tokenizer.backend_tokenizer.to_str())
    for state in ("padding", "truncation"):  # left behind by the last call, not a property of the tokenizer
        rules.pop(state, None)
    content = {
        "rules": rules,
        "bos": tokenizer.bos_token,
        "eos": tokenizer.eos_token,
        "chat_template": tokenizer.chat_template,
    }
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _adds_bos(tokenizer: PreTrainedTokenizerBase) -> bool:
    return list(tokenizer("a", verbose=False)["input_ids"][:1]) == [tokenizer.bos_token_id]
