"""Viterbi against all sequences, and tags against hand-made paths."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakscape.deidentification.viterbi import Biases, decoder, labels_of, read_tags
from leakscape.errors import InputError

BIOES = ("O", "B-x", "I-x", "E-x", "S-x", "B-y", "I-y", "E-y", "S-y")
SCHEMES = {
    "bioes": BIOES[:5],
    "two": ("O", "B-x", "E-x", "S-x", "B-y", "I-y", "E-y"),
    "bilou": ("O", "B-x", "I-x", "L-x", "U-x"),
    "bio": ("B-x", "I-x", "O", "B-y", "I-y"),
    "plain": ("x", "O", "y"),
}


def allowed(path: tuple[str, ...], scheme: tuple[str, ...]) -> bool:
    """The grammar in words: an inside or end continues its own span; where E exists a begun span must be ended."""
    closing = {label[2:] for label in scheme if label[:2] in ("E-", "L-")}
    opened = ""
    for label in path:
        place, name = (label[0], label[2:]) if label[1:2] == "-" else ("O" if label == "O" else "X", label)
        if place in "IEL":
            if opened != name:
                return False
        elif opened in closing:
            return False
        opened = name if place in "BI" else ""
    return opened not in closing


def kind(left: str, right: str) -> str:
    if right[:2] in ("I-", "E-"):
        return "inside_to_continue" if right[0] == "I" else "inside_to_end"
    start = "background" if left == "O" else "end"
    if right == "O":
        return "background_stay" if left == "O" else "end_to_background"
    return f"{start}_to_start"


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data(), length=st.integers(1, 4))
def test_best_of_all_sequences(scheme: tuple[str, ...], data: st.DataObject, length: int):
    values = st.floats(-8, 0, allow_nan=False)
    scores = np.array(
        data.draw(
            st.lists(st.lists(values, min_size=len(scheme), max_size=len(scheme)), min_size=length, max_size=length)
        )
    )
    paths = [
        path
        for path in itertools.product(range(len(scheme)), repeat=length)
        if allowed(tuple(scheme[i] for i in path), scheme)
    ]
    best = max(math.fsum(scores[step, tag] for step, tag in enumerate(path)) for path in paths)
    path = decoder(scheme).decode(scores)
    assert tuple(path) in set(paths)
    assert math.fsum(scores[step, tag] for step, tag in enumerate(path)) == pytest.approx(best)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_biases_count_once_a_step_of_their_kind(data: st.DataObject):
    names = (
        "background_stay",
        "background_to_start",
        "inside_to_continue",
        "inside_to_end",
        "end_to_background",
        "end_to_start",
    )
    numbers = st.floats(-3, 3, allow_nan=False)
    biases = {name: data.draw(numbers) for name in names}
    scores = np.array(data.draw(st.lists(st.lists(numbers, min_size=5, max_size=5), min_size=3, max_size=3)))

    def total(path: tuple[int, ...]) -> float:
        steps = itertools.pairwise(SCHEMES["bioes"][tag] for tag in path)
        return sum(scores[t, tag] for t, tag in enumerate(path)) + sum(biases[kind(*step)] for step in steps)

    paths = [p for p in itertools.product(range(5), repeat=3) if allowed(tuple(BIOES[i] for i in p), BIOES[:5])]
    path = tuple(decoder(BIOES[:5], Biases(**biases)).decode(scores))
    assert total(path) == pytest.approx(max(map(total, paths)))


@pytest.mark.parametrize(
    ("scheme", "path", "spans"),
    [
        (BIOES, "O B-x I-x E-x S-x S-y O", [(1, 4, "x"), (4, 5, "x"), (5, 6, "y")]),
        (SCHEMES["bilou"], "U-x B-x L-x", [(0, 1, "x"), (1, 3, "x")]),
        (SCHEMES["bio"], "B-x B-x I-x O B-y", [(0, 1, "x"), (1, 3, "x"), (4, 5, "y")]),
        (SCHEMES["plain"], "x x y O x", [(0, 2, "x"), (2, 3, "y"), (4, 5, "x")]),
        (("O", "I-x"), "I-x I-x O", [(0, 2, "x")]),
    ],
)
def test_spans_of_a_path(scheme: tuple[str, ...], path: str, spans: list[tuple[int, int, str]]):
    assert decoder(scheme).spans([scheme.index(label) for label in path.split()]) == spans


def test_nothing_to_decode():
    assert decoder(BIOES).decode(np.empty((0, len(BIOES)))) == []


def test_the_privacy_filters_33_labels_are_read():
    from transformers import OpenAIPrivacyFilterConfig

    tags = read_tags(labels_of(OpenAIPrivacyFilterConfig().id2label))
    assert len(tags) == 33
    assert {tag.label for tag in tags} == {
        "", "account_number", "private_address", "private_date", "private_email", "private_person", "private_phone",
        "private_url", "secret",
    }  # fmt: skip


@pytest.mark.parametrize("labels", [("B-x", "I-x"), ("O", "I-x", "B-y"), ("O", "E-x", "S-x"), ()])
def test_labels_that_are_no_scheme(labels: tuple[str, ...]):
    with pytest.raises(InputError):
        read_tags(labels)


PUBLISHED = {f"transition_bias_{name}": 0.5 for name in Biases.__dataclass_fields__}


def test_published_biases_are_read():
    calibration = {"operating_points": {"default": {"biases": PUBLISHED}, "strict": {}}}
    assert Biases.read(calibration, "f") == Biases(0.5, 0.5, 0.5, 0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    "calibration",
    [None, [], {}, {"operating_points": {"strict": {}}}]
    + [
        {"operating_points": {"default": {"biases": {**PUBLISHED, "transition_bias_end_to_start": bad}}}}
        for bad in (None, "x", float("nan"), float("inf"))
    ]
    + [{"operating_points": {"default": {"biases": {"transition_bias_end_to_start": 0}}}}],
)
def test_a_calibration_of_another_form_is_refused(calibration: object):
    with pytest.raises(InputError, match="six biases"):
        Biases.read(calibration, "f")
