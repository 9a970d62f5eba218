"""Benchmarks on tiny tasks of our own, held against plain loops over the model's logits."""

import json
import math
import os
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import toys

from leakscape.errors import ContractError, InputError, LeakscapeError, TransientError
from leakscape.models.load import LoadedModel, assemble
from leakscape.scoring import harness_tasks
from leakscape.scoring.harness import Benchmark, run_tasks
from leakscape.scoring.harness_tasks import BenchmarkRequest, opened

pytest.importorskip("lm_eval")

QUESTIONS = [
    {
        "question": f"Which town has ZIP {number}?",
        "choices": ["Salem", "Boston MA", "Lynn Street"],
        "answer": number % 3,
    }
    for number in range(7)
]
NOTES = [
    {"text": "Patient: María O'Brien takes Lisinopril"},
    {"text": "City: Salem"},
    {"text": "Sex: female, ZIP 01970"},
]
PAIRS = [{"before": f"Patient {number}", "after": " is" if number else " of"} for number in range(4)]

CHOICE = """
task: toy_choice
dataset_path: json
dataset_kwargs: {data_files: {test: questions.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: "{{choices}}"
doc_to_target: answer
metadata: {version: 2.0}
"""
ROLLING = """
task: toy_rolling
dataset_path: json
dataset_kwargs: {data_files: {test: notes.jsonl}}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{text}}"
metric_list: [{metric: word_perplexity}]
"""
PERPLEXITY = """
task: toy_perplexity
dataset_path: json
dataset_kwargs: {data_files: {test: pairs.jsonl}}
test_split: test
output_type: loglikelihood
doc_to_text: "{{before}}"
doc_to_target: "{{after}}"
metric_list: [{metric: perplexity}]
"""


def write(folder: Path, **files: Any) -> Path:  # noqa: ANN401
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if isinstance(content, str):
            (folder / f"{name}.yaml").write_text(content)
        else:
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write(tmp_path / "tasks", choice=CHOICE, questions=QUESTIONS, rolling=ROLLING, notes=NOTES)
    return write(made, perplexity=PERPLEXITY, pairs=PAIRS)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    asked: list[object] = []

    def refuse(_self: socket.socket, address: object) -> None:
        asked.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: refuse(None, args[0]))  # type: ignore[arg-type]
    return asked


def loaded(architecture: str = "llama") -> LoadedModel:
    return assemble(*toys.toy(architecture), name="toy")


def request(*tasks: object, limit: int = 0, fewshot: int = -1, batch_size: int = 4, seed: int = 0) -> BenchmarkRequest:
    return BenchmarkRequest(
        harness_tasks=[str(task) for task in tasks],
        harness_limit=limit,
        harness_fewshot=fewshot,
        batch_size=batch_size,
        seed=seed,
    )


def ran(model: LoadedModel, wanted: BenchmarkRequest) -> dict[str, Benchmark]:
    with opened(wanted) as tasks:
        return run_tasks(model, tasks, wanted)


def log_likelihood(model: LoadedModel, context: str, target: str) -> float:
    """A plain loop: the sum over the tokens after those of the context; a BOS comes first, if there is one."""
    before = model.tokenizer(context)["input_ids"]
    ids = model.tokenizer(context + target)["input_ids"]
    with torch.no_grad():
        scores = torch.log_softmax(model.model(input_ids=torch.tensor([ids])).logits[0].double(), dim=-1)
    return sum(float(scores[at - 1, ids[at]]) for at in range(max(1, len(before)), len(ids)))


def state() -> list[object]:
    arrays: Any = np.random.get_state()  # noqa: NPY002
    return [random.getstate(), torch.get_rng_state().tolist(), arrays[1].tolist(), Path.cwd(), dict(os.environ)]


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_accuracy_is_that_of_a_plain_loop(folder: Path, architecture: str, no_network: list[object]):
    model = loaded(architecture)
    found = ran(model, request(folder / "choice.yaml"))["toy_choice"]
    right = 0
    for row in QUESTIONS:
        # acc_norm divides by the length of the answer's text.
        scores = [log_likelihood(model, row["question"], f" {each}") / len(each) for each in row["choices"]]
        right += max(range(3), key=scores.__getitem__) == row["answer"]
    share = right / 7
    assert (found.metric, found.value, found.n) == ("acc_norm", pytest.approx(share), 7)
    assert found.stderr == pytest.approx(math.sqrt(share * (1 - share) / 6))  # of a mean, by n - 1
    assert (found.higher_is_better, found.version, found.fewshot) == (True, "2.0", 0)
    assert no_network == []


@pytest.mark.parametrize("architecture", ["llama", "qwen3_5"])
def test_perplexity_of_whole_texts_counts_one_bos(folder: Path, architecture: str):
    model = loaded(architecture)
    found = ran(model, request(folder / "rolling.yaml"))["toy_rolling"]
    tokenizer = model.tokenizer
    first = [tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id]
    total = 0.0
    for row in NOTES:
        ids = first + tokenizer(row["text"], add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            scores = torch.log_softmax(model.model(input_ids=torch.tensor([ids])).logits[0].double(), dim=-1)
        total += sum(float(scores[at - 1, ids[at]]) for at in range(1, len(ids)))
    words = sum(len(row["text"].split()) for row in NOTES)
    assert found.metric == "word_perplexity"
    assert math.log(found.value) == pytest.approx(-total / words, rel=1e-5)
    assert (found.stderr, found.higher_is_better, found.n) == (None, False, 3)


def test_a_standard_error_without_a_closed_form_is_bootstrapped(folder: Path):
    model = loaded()
    found = ran(model, request(folder / "perplexity.yaml"))["toy_perplexity"]
    scores = np.array([log_likelihood(model, row["before"], row["after"]) for row in PAIRS])
    assert math.log(found.value) == pytest.approx(-scores.mean(), rel=1e-5)
    draws = np.random.default_rng(0).choice(scores, size=(20_000, len(scores)))
    assert found.stderr is not None
    # 1,000 resamples against 20,000: a deviation is known to 1 in 45.
    assert found.stderr == pytest.approx(np.exp(-draws.mean(axis=1)).std(), rel=0.15)


def test_a_folder_is_all_its_tasks_and_each_has_the_same_result_alone(folder: Path):
    model = loaded()
    together = ran(model, request(folder, fewshot=2, seed=3))
    assert list(together) == ["toy_choice", "toy_perplexity", "toy_rolling"]
    for name, file in (("toy_choice", "choice"), ("toy_rolling", "rolling")):
        wanted = request(folder / f"{file}.yaml", fewshot=2, seed=3, batch_size=1)
        alone = ran(model, wanted)[name]
        assert (alone.value, alone.n, alone.fewshot) == (pytest.approx(together[name].value), together[name].n, 2)
    assert ran(model, request(folder, fewshot=2, seed=3)) == together


def test_limits_and_examples_are_choices(folder: Path):
    model = loaded()
    assert ran(model, request(folder / "choice.yaml", limit=3))["toy_choice"].n == 3
    fixed = write(folder.parent / "fixed", choice=CHOICE + "num_fewshot: 0\n", questions=QUESTIONS)
    assert ran(model, request(fixed, fewshot=2))["toy_choice"].fewshot == 0
    own = write(folder.parent / "own", choice=CHOICE + "num_fewshot: 1\n", questions=QUESTIONS)
    assert ran(model, request(own))["toy_choice"].fewshot == 1


def test_no_state_of_the_process_changes(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    model, before = loaded(), state()
    ran(model, request(folder))
    assert state() == before
    assert not (tmp_path / "cache").exists()


def test_a_chat_model_reads_its_template_with_the_frozen_date(folder: Path):
    model = loaded("gpt_oss")
    wanted = request(folder / "choice.yaml")
    with opened(wanted) as tasks:
        run_tasks(model, tasks, wanted)
        (context, answer) = tasks["toy_choice"].instances[0].args
    assert "Current date: 2026-01-01" in context
    assert context.endswith("<|start|>assistant")
    assert answer == "Salem"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a": "task: [broken"}, "describes no task"),
        ({"a": "output_type: multiple_choice"}, "describes no task"),
        ({"a": CHOICE}, r"toy_choice or its data can't be loaded \(FileNotFoundError\)"),
        ({"a": CHOICE, "questions": []}, "toy_choice or its data can't be loaded"),
        ({"a": CHOICE + "unsafe_code: true\n", "questions": QUESTIONS}, "toy_choice runs code"),
        ({"a": CHOICE + "no_such_key: 1\n", "questions": QUESTIONS}, r"toy_choice .*\(TypeError\)"),
        ({"_a": CHOICE}, "holds no YAML file"),
        ({"a": CHOICE, "b": CHOICE, "questions": QUESTIONS}, "whose name another file has"),
    ],
)
def test_a_folder_that_can_not_be_used_is_refused(tmp_path: Path, files: dict[str, Any], words: str):
    folder = write(tmp_path / "bad", **files)
    with pytest.raises(InputError, match=words), opened(request(folder)):
        pass


def test_names_and_paths_that_lead_nowhere_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InputError, match="no folder and no YAML file"), opened(request(folder / "none")):
        pass
    with pytest.raises(ContractError, match="toy_choice twice"), opened(request(folder, folder / "choice.yaml")):
        pass

    class Index:
        task_index: dict[str, object] = {}  # noqa: RUF012

    monkeypatch.setattr(harness_tasks, "_manager", Index)  # the real one takes ten seconds to read
    with pytest.raises(InputError, match="has no task hellaswig"), opened(request("hellaswig")):
        pass


def test_data_on_a_hub_that_is_away_is_a_transient_error_with_the_tasks_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[object]
):
    import datasets
    import requests

    task = CHOICE.replace("dataset_path: json", "dataset_path: someone/something").replace("dataset_kwargs", "#")
    folder = write(tmp_path / "remote", remote=task)

    def away(**_: object) -> None:
        raise requests.exceptions.ConnectionError

    monkeypatch.setattr(datasets, "load_dataset", away)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("HF_DATASETS_OFFLINE", raising=False)
    with pytest.raises(TransientError, match="task toy_choice could not be fetched"), opened(request(folder)):
        pass
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="toy_choice"), opened(request(folder)):
        pass
    assert no_network == []


def test_what_can_not_be_run_or_stated_names_the_task_and_no_document(folder: Path):
    long = [{"before": "x" * 3000, "after": "y" * 3000}, *PAIRS]
    write(folder, pairs=long)
    with pytest.raises(InputError, match=r"toy_perplexity can't be run on this model \(AssertionError\)") as caught:
        ran(loaded("gpt2"), request(folder / "perplexity.yaml"))
    assert "xxx" not in str(caught.value)
    model = loaded()
    with torch.no_grad():
        next(model.model.parameters()).fill_(math.nan)
    with pytest.raises(LeakscapeError, match="word_perplexity is no finite number"):
        ran(model, request(folder / "rolling.yaml"))


def test_no_task_is_no_work():
    assert ran(loaded(), request()) == {}
