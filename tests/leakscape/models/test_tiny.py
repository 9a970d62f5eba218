"""The base model that ships with the package."""

import json
from itertools import islice
from pathlib import Path

import pytest

from leakscape.artifacts import hash_file
from leakscape.canaries.names import STEMS
from leakscape.models.load import TINY, load_model, resolve
from leakscape.models.tiny_recipe import Recipe, make
from leakscape.models.tiny_texts import COINED_SHARE, texts
from leakscape.models.tokens import tokenise
from leakscape.records.builtin import drug_names

FOLDER = Path(resolve(TINY))


def test_its_bytes_are_those_of_its_recipe():
    recipe = json.loads((FOLDER / "recipe.json").read_text())
    assert {name: hash_file(FOLDER / name) for name in recipe["sha256"]} == recipe["sha256"]
    assert {path.name for path in FOLDER.iterdir()} == {*recipe["sha256"], "recipe.json"}
    assert recipe["recipe"] == vars(Recipe())
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 12 * 2**20


def test_it_loads_and_reads_digits_one_by_one():
    loaded = load_model(TINY, device="cpu")
    assert (loaded.name, loaded.chat, loaded.dtype) == (TINY, False, "float32")
    tokens = tokenise(loaded.tokenizer, "SSN: 912-45-6789")
    assert [end - start for start, end in tokens.offsets[-4:]] == [1, 1, 1, 1]


def test_a_share_of_the_texts_ends_with_a_fresh_coined_name():
    drawn = list(texts(1000, seed=1))
    real = {name.lower() for name in drug_names()}
    last = [text.replace("|", " ").split()[-1] for text in drawn]
    coined = [word for word in last if word.isalpha() and word.lower().endswith(STEMS) and word.lower() not in real]
    assert abs(len(coined) / 1000 - COINED_SHARE) < 0.06
    assert len(set(coined)) == len(coined)


def test_texts_are_the_same_each_time_and_ask_the_probes_question():
    drawn = list(islice(texts(200, seed=2), 200))
    assert drawn == list(texts(200, seed=2))
    questions = [text for text in drawn if text.startswith("Question: ") and "\nAnswer: " in text]
    assert 10 < len(questions) < 55


@pytest.mark.slow
def test_the_recipe_gives_the_same_weights_twice():
    import torch

    short = Recipe(steps=2, batch_size=4, tokenizer_texts=200, vocabulary=300, threads=1)
    first, again = make(short), make(short)
    assert first.losses == again.losses
    pairs = zip(first.model.parameters(), again.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
