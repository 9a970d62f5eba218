"""Which tokens of a text are its target's.

The whole text is tokenised once and the target found by its characters, so no token is lost where one of them spans
the place at which prefix and target meet. Cutting at the length of the tokenised prefix instead can leave a target
without any token (a known fault of evaluation harnesses: EleutherAI/lm-evaluation-harness#4055).
"""

from dataclasses import dataclass

from leakscape.errors import InputError
from leakscape.models.formatting import Formatted, FormattedText
from leakscape.models.tokens import Tokens, tokenise

EMPTY = "the text to score is empty"
DROPPED = "the tokenizer has no token for the text to score"
FIRST = "the only token to score opens the text, and nothing stands before it"


@dataclass(frozen=True, slots=True)
class Item:
    """A tokenised text and what of it is scored: `ids[first:end]`, at least one token, never the one at 0.

    Args:
        id: names the text in errors.
        ids: token ids of the whole text, up to the last one scored.
        first: index of the first scored token.
        end: index after the last scored token.
        straddles: the first scored token begins before the target does.
    """

    id: str
    ids: tuple[int, ...]
    first: int
    end: int
    straddles: bool = False

    @property
    def tokens(self) -> int:
        """How many tokens are scored."""
        return self.end - self.first


def item(loaded: Formatted, text: FormattedText, item_id: str, *, limit: int = 0) -> Item | str:
    """Tokenise a text and locate its target.

    Args:
        loaded: the model that it was formatted for.
        text: as `leakscape.models.formatting` made it.
        item_id: names the text in errors.
        limit: the most tokens that the model can read; 0 for any number.

    Returns:
        The item, or why there is nothing to score.

    Raises:
        InputError: the text holds the model's BOS token.
    """
    if text.start == text.end:
        return EMPTY
    try:
        tokens = tokenise(loaded.tokenizer, text.text, chat=loaded.chat)
    except InputError as error:
        raise InputError(f"{item_id}: {error}") from None
    located = locate(tokens, text.start, text.end)
    if isinstance(located, str):
        return located
    first, end, straddles = located
    if 0 < limit < end:
        return f"the text has {end} tokens, and the model reads {limit}"
    return Item(item_id, tokens.ids[:end], first, end, straddles)


def locate(tokens: Tokens, start: int, end: int) -> tuple[int, int, bool] | str:
    """Find the tokens that overlap `text[start:end]`.

    Nothing predicts the first token of a text, so without a BOS it can't be scored.

    Returns:
        Index of the first scored token, index after the last one, and whether the first one begins before `start`;
        or why there is nothing to score.
    """
    if start == end:
        return EMPTY
    spans = untrimmed(tokens.offsets, end)
    inside = [index for index, (left, right) in enumerate(spans) if left < end and right > start]
    if not inside:
        return DROPPED
    first, last = max(inside[0], 1), inside[-1]
    if first > last:
        return FIRST
    return first, last + 1, spans[first][0] < start


def untrimmed(offsets: tuple[tuple[int, int], ...], length: int) -> tuple[tuple[int, int], ...]:
    """Give every character that no token claims to the token it stands in.

    GPT-2's tokenizer leaves the space that opens a token out of its offsets, and of a token that is nothing but space
    it leaves an empty span; a target that begins with that space must still find the token.

    Args:
        offsets: for each token `[start, end)`, in code points.
        length: where the text ends.
    """
    spans: list[tuple[int, int]] = []
    covered = 0
    following = [left for left, _ in offsets[1:]] + [length]
    for (left, right), after in zip(offsets, following, strict=True):
        last = max(right, after) if left == right else right
        spans.append((min(left, covered), last))
        covered = max(covered, last)
    return tuple(spans)
