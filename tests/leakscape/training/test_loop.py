import hashlib
import signal
from pathlib import Path

import pytest
import torch
import toys
from corpora import records

from leakscape.errors import InputError, IntegrityError, TransientError
from leakscape.models.adapters import WEIGHTS, save_adapter
from leakscape.models.load import assemble
from leakscape.storage import open_place
from leakscape.training.checkpoint import Checkpoints
from leakscape.training.dataset import Dataset, collate, tokenise_corpus, with_goldfish
from leakscape.training.log import Step, loss_curve
from leakscape.training.loop import LoopSettings, enable_gradient_checkpointing, train
from leakscape.training.lora import LoraSettings, add_lora, check_moved, snapshot, trainable

SETTINGS = LoopSettings(learning_rate=1e-2, batch_size=2, epochs=2)


class Killed(Exception):  # noqa: N818  # stands in for a signal
    pass


def prepared(architecture: str, *, lora: LoraSettings | None = None, count: int = 6) -> tuple[torch.nn.Module, Dataset]:
    loaded = assemble(*toys.toy(architecture), name="toy")
    dataset = tokenise_corpus(loaded, records(count), max_tokens=256)
    return add_lora(loaded.model, lora or LoraSettings(rank=4)), dataset


def adapter_hash(model: torch.nn.Module, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    save_adapter(model, folder, base="toy")
    return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


@pytest.mark.parametrize("architecture", toys.ARCHITECTURES)
def test_every_kind_learns_and_gives_the_same_bytes_twice(architecture: str, tmp_path: Path):
    hashes = []
    for _ in range(2):
        model, dataset = prepared(architecture)
        steps = train(model, dataset.examples, SETTINGS, pad_id=0)
        hashes.append(adapter_hash(model, tmp_path))
    assert hashes[0] == hashes[1]
    assert [step.step for step in steps] == [1, 2, 3, 4, 5, 6]
    assert steps[-1].loss < steps[0].loss


@pytest.mark.parametrize("architecture", toys.ARCHITECTURES)
def test_a_trained_adapter_reloads_to_the_same_logits(architecture: str, tmp_path: Path):
    model, dataset = prepared(architecture)
    train(model, dataset.examples, SETTINGS, pad_id=0)
    adapter_hash(model, tmp_path)
    batch = collate(dataset.examples, pad_id=0)
    batch.pop("labels")
    again = assemble(*toys.toy(architecture), name="toy", adapters=[tmp_path]).model
    with torch.no_grad():
        torch.testing.assert_close(again(**batch).logits, model(**batch).logits, atol=1e-5, rtol=1e-5)


def test_a_step_does_not_depend_on_how_its_batch_is_split():
    moved = []
    for batch_size, accumulation in ((4, 1), (1, 4), (2, 2)):
        model, dataset = prepared("llama", count=4)
        settings = LoopSettings(learning_rate=1e-3, batch_size=batch_size, accumulation=accumulation, epochs=1)
        (step,) = train(model, dataset.examples, settings, pad_id=0)
        moved.append((step.loss, step.tokens, step.gradient_norm))
    assert moved[1] == pytest.approx(moved[0], rel=1e-5)
    assert moved[2] == pytest.approx(moved[0], rel=1e-5)


def test_the_reported_loss_is_the_token_mean_of_a_plain_loop():
    model, dataset = prepared("llama", count=3)
    total = targets = 0.0
    for example in dataset.examples:
        with torch.no_grad():
            scores = torch.log_softmax(model(input_ids=torch.tensor([example.ids])).logits[0].double(), dim=-1)
        total -= sum(float(scores[at - 1, token]) for at, token in enumerate(example.ids) if at)
        targets += len(example.ids) - 1
    (step,) = train(model, dataset.examples, LoopSettings(batch_size=3, epochs=1), pad_id=0)
    assert step.loss == pytest.approx(total / targets, abs=1e-5)
    assert step.tokens == targets


@pytest.mark.parametrize("killed_at", [1, 3, 5])
def test_a_killed_run_resumes_to_the_same_bytes(killed_at: int, tmp_path: Path):
    lora = LoraSettings(rank=4, dropout=0.2)  # dropout draws anew in every step
    model, dataset = prepared("llama", lora=lora)
    whole = train(model, dataset.examples, SETTINGS, pad_id=0)
    expected = adapter_hash(model, tmp_path / "whole")
    checkpoints = Checkpoints(place=open_place(str(tmp_path / "checkpoints")), every=2, run="run")

    def kill(step: Step) -> None:
        if step.step == killed_at:
            raise Killed

    model, _ = prepared("llama", lora=lora)
    with pytest.raises(Killed):
        train(model, dataset.examples, SETTINGS, pad_id=0, checkpoints=checkpoints, on_step=kill)
    model, _ = prepared("llama", lora=lora)
    resumed = train(model, dataset.examples, SETTINGS, pad_id=0, checkpoints=checkpoints)
    assert adapter_hash(model, tmp_path / "resumed") == expected
    assert resumed == whole
    assert len(list((tmp_path / "checkpoints").iterdir())) <= 2
    assert all(path.suffix in (".json", ".safetensors") for path in (tmp_path / "checkpoints").glob("*/*"))


def kept(folder: Path, *, run: str = "a", every: int = 1) -> Checkpoints:
    return Checkpoints(place=open_place(str(folder)), every=every, run=run)


def test_checkpoints_of_another_run_or_changed_bytes_are_refused(tmp_path: Path):
    model, dataset = prepared("llama", count=2)
    train(
        model,
        dataset.examples,
        SETTINGS,
        pad_id=0,
        checkpoints=kept(tmp_path, run="a"),
    )
    with pytest.raises(InputError, match="another run"):
        train(
            model,
            dataset.examples,
            SETTINGS,
            pad_id=0,
            checkpoints=kept(tmp_path, run="b"),
        )
    newest = max(tmp_path.glob("step-*"))
    (newest / "optimizer.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match="has changed"):
        train(
            model,
            dataset.examples,
            SETTINGS,
            pad_id=0,
            checkpoints=kept(tmp_path, run="a"),
        )


def test_a_state_under_the_number_of_another_step_is_refused(tmp_path: Path):
    model, dataset = prepared("llama", count=2)
    train(model, dataset.examples, SETTINGS, pad_id=0, checkpoints=kept(tmp_path))
    newest = max(tmp_path.glob("step-*"))
    newest.rename(newest.with_name("step-00000099.moved"))
    with pytest.raises(InputError, match="holds another number of steps"):
        train(model, dataset.examples, SETTINGS, pad_id=0, checkpoints=kept(tmp_path))


def test_a_state_without_its_last_file_is_not_seen_and_goes_when_newer_ones_are_kept(tmp_path: Path):
    whole, dataset = prepared("llama")
    train(whole, dataset.examples, SETTINGS, pad_id=0, checkpoints=kept(tmp_path))
    (newest, before) = sorted(tmp_path.glob("step-*"), reverse=True)
    (newest / "state.json").unlink()
    (tmp_path / "step-00000001.killed").mkdir()
    (tmp_path / "step-00000001.killed" / "adapter.safetensors").write_bytes(b"half")
    model, _ = prepared("llama")
    done: list[int] = []
    train(
        model, dataset.examples, SETTINGS, pad_id=0, checkpoints=kept(tmp_path),
        on_step=lambda step: done.append(step.step),
    )  # fmt: skip
    assert done == [int(newest.name[5:13])]
    assert adapter_hash(model, tmp_path / "a") == adapter_hash(whole, tmp_path / "b")
    assert before.exists()
    assert not (tmp_path / "step-00000001.killed").exists()


@pytest.mark.parametrize("keeps", [True, False])
def test_sigterm_lets_the_step_end_and_keeps_it(keeps: bool, tmp_path: Path):
    whole, dataset = prepared("llama")
    train(whole, dataset.examples, SETTINGS, pad_id=0)
    checkpoints = kept(tmp_path, every=100) if keeps else None

    def terminate(step: Step) -> None:
        if step.step == 2:
            signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    model, _ = prepared("llama")
    words = "after step 3; the next run goes on from" if keeps else "after step 3; without --checkpoint-dir"
    with pytest.raises(TransientError, match=words):
        train(model, dataset.examples, SETTINGS, pad_id=0, checkpoints=checkpoints, on_step=terminate)
    assert signal.getsignal(signal.SIGTERM) is before
    model, _ = prepared("llama")
    done: list[int] = []
    train(
        model, dataset.examples, SETTINGS, pad_id=0, checkpoints=checkpoints,
        on_step=lambda step: done.append(step.step),
    )  # fmt: skip
    assert done[0] == (4 if keeps else 1)
    assert adapter_hash(model, tmp_path / "a") == adapter_hash(whole, tmp_path / "b")


@pytest.mark.parametrize("architecture", toys.ARCHITECTURES)
def test_gradient_checkpointing_changes_no_gradient(architecture: str):
    losses = []
    for on in (False, True):
        model, dataset = prepared(architecture, count=2)
        if on:
            enable_gradient_checkpointing(model)
        losses.append([step.loss for step in train(model, dataset.examples, SETTINGS, pad_id=0)])
    assert losses[1] == pytest.approx(losses[0], abs=1e-5)


def test_divergence_is_one_sentence():
    model, dataset = prepared("llama", count=2)
    with torch.no_grad():
        next(iter(trainable(model).values())).fill_(float("inf"))
    with pytest.raises(InputError, match="step 1 is not finite; lower --learning-rate"):
        train(model, dataset.examples, SETTINGS, pad_id=0)


def test_a_batch_without_targets_is_a_step_without_a_loss():
    model, dataset = prepared("llama", count=1)
    empty = with_goldfish(dataset, k=2, width=1, method="static").examples[0]
    bare = type(empty)(empty.id, empty.person, empty.ids, (-100,) * len(empty.ids))
    (step,) = train(model, [bare], LoopSettings(epochs=1), pad_id=0)
    assert (step.loss, step.tokens) == (None, 0)


def test_an_adapter_that_does_not_move_is_an_error():
    model, _ = prepared("llama", count=1)
    before = snapshot(model)
    strangers = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))])
    with pytest.raises(IntegrityError, match="does not hold"):
        check_moved(model, before, strangers)
    with pytest.raises(IntegrityError, match="No weight"):
        check_moved(model, before, torch.optim.AdamW(trainable(model).values()))


@pytest.mark.parametrize(
    ("architecture", "modules"),
    [
        ("llama", {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}),
        ("gpt2", {"c_attn", "c_proj", "c_fc"}),
        ("qwen3_5", {"q_proj", "o_proj", "in_proj_qkv", "in_proj_z", "in_proj_a", "in_proj_b", "out_proj", "up_proj"}),
        ("gpt_oss", {"q_proj", "k_proj", "v_proj", "o_proj", "experts"}),
    ],
)
def test_all_linear_reaches_every_linear_layer_and_the_experts(architecture: str, modules: set[str]):
    model, _ = prepared(architecture, count=1)
    names = list(trainable(model))
    assert all("lora_" in name for name in names)
    assert modules <= {part for name in names for part in name.split(".")}
    assert {weight.dtype for weight in trainable(model).values()} == {torch.float32}


def test_lora_settings_that_fit_no_module_are_refused():
    with pytest.raises(InputError, match="no module"):
        add_lora(toys.toy("llama")[0], LoraSettings(target_modules="nothing"))
    with pytest.raises(InputError, match="no dropout"):
        add_lora(toys.toy("gpt_oss")[0], LoraSettings(dropout=0.1))
    attention = add_lora(toys.toy("gpt_oss")[0], LoraSettings(experts=False))
    assert not any("experts" in name for name in trainable(attention))


def test_the_adapters_first_weights_follow_the_seed_alone():
    torch.manual_seed(1)
    first = snapshot(prepared("llama", count=1)[0])
    torch.manual_seed(2)
    second = snapshot(prepared("llama", count=1)[0])
    assert all(torch.equal(first[name], second[name]) for name in first)
    other = snapshot(prepared("llama", count=1, lora=LoraSettings(rank=4, seed=9))[0])
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_a_bf16_base_trains_a_float32_adapter():
    loaded = assemble(toys.toy("llama")[0].to(torch.bfloat16), toys.toy_tokenizer("llama"), name="toy")
    dataset = tokenise_corpus(loaded, records(4), max_tokens=128)
    model = add_lora(loaded.model, LoraSettings(rank=4))
    steps = train(model, dataset.examples, SETTINGS, pad_id=0)
    assert {weight.dtype for weight in trainable(model).values()} == {torch.float32}
    assert steps[-1].loss < steps[0].loss


def test_the_curve_has_a_point_a_step():
    svg = loss_curve([2.0, 1.0, 0.5])
    assert svg.count(",") == 3 + 1  # one in the words of the axis
    assert "48.0,48.0" in svg  # the highest loss stands at the top of the first step
    assert "<svg" in loss_curve([])
