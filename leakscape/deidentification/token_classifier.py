"""Any Hugging Face token classifier as a detector, the OpenAI privacy filter among them.

Long texts are seen through windows that overlap; of two windows that see a token the one in which it stands farther
from an edge is believed, and one Viterbi path runs through the whole text, so that no span ends at a window's edge.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscape.deidentification.detector import Found
from leakscape.deidentification.viterbi import Biases, Decoder, decoder, labels_of
from leakscape.errors import DependencyError, InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WINDOW, OVERLAP = 1024, 128
"""Tokens of a window, special ones included, and of what two windows share."""
CALIBRATION = "viterbi_calibration.json"
_UNLIMITED = 10**9  # tokenizers without a limit name a larger number


@dataclass(frozen=True, slots=True)
class _Window:
    """Some tokens of one text.

    Args:
        text: number of the text.
        first: number of the window's first token among the text's.
        ids: token ids, special ones included.
        content: positions in `ids` that are the text's own.
        offsets: code points of the text for each position of `content`.
    """

    text: int
    first: int
    ids: list[int]
    content: list[int]
    offsets: list[tuple[int, int]]


class TokenClassifier:
    """Finds what a token classifier was trained to find.

    Args:
        model: a `...ForTokenClassification`, in evaluation mode on its device.
        tokenizer: its tokenizer, with offsets.
        biases: added by Viterbi for each kind of step.
        batch_size: windows in a forward pass.
        window: tokens of a window, special ones included.
        overlap: tokens that neighbouring windows share.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - transformers' classes are untyped here
        tokenizer: Any,  # noqa: ANN401
        *,
        biases: Biases | None = None,
        batch_size: int = 32,
        window: int = WINDOW,
        overlap: int = OVERLAP,
    ) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise InputError("the model's tokenizer gives no offsets; a token classifier needs a fast tokenizer.")
        self._model, self._tokenizer, self._batch_size = model, tokenizer, batch_size
        self._decoder: Decoder = decoder(labels_of(model.config.id2label), biases)
        limits = (window, getattr(model.config, "max_position_embeddings", None), tokenizer.model_max_length)
        self._window = min(limit for limit in limits if limit and limit < _UNLIMITED)
        room = self._window - tokenizer.num_special_tokens_to_add()
        if room < 1:
            raise InputError(f"a window of {self._window} tokens has no room for a text.")
        self._overlap = min(overlap, room - 1)
        self._step = room - self._overlap

    def detect(self, texts: Sequence[str]) -> list[list[Found]]:
        """Look at each text on its own; see `Detector`."""
        windows = self._windows(texts)
        scores = self._scores(windows)
        by_text: dict[int, list[int]] = {}
        for number, window in enumerate(windows):
            by_text.setdefault(window.text, []).append(number)
        found: list[list[Found]] = [[] for _ in texts]
        for text, numbers in by_text.items():
            joined, offsets = _join([windows[number] for number in numbers], [scores[number] for number in numbers])
            found[text] = self._found(joined, offsets)
        return found

    def _windows(self, texts: Sequence[str]) -> list[_Window]:
        numbers = [number for number, text in enumerate(texts) if text.strip()]
        if not numbers:
            return []
        encoded = self._tokenizer(
            [texts[number] for number in numbers],
            truncation=True,
            max_length=self._window,
            stride=self._overlap,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        windows: list[_Window] = []
        for row, sample in enumerate(encoded["overflow_to_sample_mapping"]):
            text = numbers[sample]
            again = bool(windows) and windows[-1].text == text
            content = [place for place, special in enumerate(encoded["special_tokens_mask"][row]) if not special]
            offsets = [tuple(encoded["offset_mapping"][row][place]) for place in content]
            first = windows[-1].first + self._step if again else 0
            windows.append(_Window(text, first, encoded["input_ids"][row], content, offsets))
        return windows

    def _scores(self, windows: Sequence[_Window]) -> "list[NDArray[np.float64]]":
        """Log-probabilities (content tokens, L) of each window; windows of like length share a batch."""
        import torch

        order = sorted(range(len(windows)), key=lambda number: len(windows[number].ids))
        scores: list[Any] = [None] * len(windows)
        for start in range(0, len(order), self._batch_size):
            numbers = order[start : start + self._batch_size]
            batch = self._tokenizer.pad(
                {"input_ids": [windows[number].ids for number in numbers]}, padding_side="right", return_tensors="pt"
            ).to(self._model.device)
            with torch.inference_mode():
                logits = self._model(**batch).logits
            logs = torch.log_softmax(logits.float(), dim=-1).double().cpu().numpy()  # float first: bfloat16 makes ties
            for row, number in enumerate(numbers):
                scores[number] = logs[row, windows[number].content]
        return scores

    def _found(self, scores: "NDArray[np.float64]", offsets: Sequence[tuple[int, int]]) -> list[Found]:
        import numpy as np

        found = []
        for first, end, label in self._decoder.spans(self._decoder.decode(scores)):
            own = [index for index, tag in enumerate(self._decoder.tags) if tag.label == label]
            score = float(np.exp(scores[first:end, own]).sum(axis=1).mean())
            found.append(Found(offsets[first][0], offsets[end - 1][1], label, min(score, 1.0)))
        return found


def load_classifier(model: str, *, device: str = "auto", batch_size: int = 32) -> TokenClassifier:
    """Load a token classifier by Hugging Face id or path, with the biases that lie beside its weights, if any.

    Raises:
        DependencyError: torch or transformers is not installed.
        InputError: there is no such model, it is no token classifier, or its calibration can't be read.
    """
    try:
        import torch
        from transformers import AutoModelForTokenClassification, AutoTokenizer
    except ImportError:
        raise DependencyError("this detector needs torch and transformers: pip install 'leakscape[train]'.") from None
    where = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
        loaded, report = AutoModelForTokenClassification.from_pretrained(
            model, use_safetensors=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{model} can't be loaded as a token classifier ({type(error).__name__}).") from None
    if report["missing_keys"]:
        raise InputError(f"{model} lacks weights of a token classifier, which would be random; choose another model.")
    return TokenClassifier(loaded.eval().to(where), tokenizer, biases=published_biases(model), batch_size=batch_size)


def published_biases(model: str) -> Biases:
    """The transition biases that lie beside a model's weights; all zero when there are none.

    Raises:
        InputError: the file has another form.
    """
    from transformers.utils.hub import cached_file

    file = cached_file(
        model,
        CALIBRATION,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    if file is None:
        return Biases()
    try:
        calibration = json.loads(Path(file).read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(f"{CALIBRATION} of {model} is not JSON.") from None
    return Biases.read(calibration, f"{CALIBRATION} of {model}")


def _join(
    windows: Sequence[_Window], scores: "Sequence[NDArray[np.float64]]"
) -> "tuple[NDArray[np.float64], list[tuple[int, int]]]":
    """Scores and offsets of a text's tokens from its windows, each token from where it has most context."""
    import numpy as np

    total = windows[-1].first + len(windows[-1].content)
    joined = np.empty((total, scores[0].shape[1]))
    offsets: list[tuple[int, int]] = [(0, 0)] * total
    context = np.full(total, -1)
    for window, own in zip(windows, scores, strict=True):
        length = len(window.content)
        for place in range(length):
            token = window.first + place
            before = place if window.first else total
            after = length - 1 - place if window is not windows[-1] else total
            if min(before, after) > context[token]:
                context[token] = min(before, after)
                joined[token], offsets[token] = own[place], window.offsets[place]
    return joined, offsets
