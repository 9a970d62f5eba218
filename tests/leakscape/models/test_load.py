from pathlib import Path

import pytest
import torch
import toys

from leakscape.errors import InputError, TransientError
from leakscape.models.adapters import WEIGHTS, check_adapter, save_adapter
from leakscape.models.load import LoadedModel, assemble, choose_device, choose_dtype, load_model, resolve
from leakscape.training.lora import LoraSettings, add_lora, trainable

IDS = torch.tensor([[5, 60, 70, 80, 90, 100]])


def moved_adapter(architecture: str, folder: Path, *, seed: int) -> Path:
    """An adapter with weights other than zero."""
    model = add_lora(assemble(*toys.toy(architecture), name="toy").model, LoraSettings(rank=2, seed=seed))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in trainable(model).values():
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.2)
    folder.mkdir()
    save_adapter(model, folder, base="toy")
    return folder


def logits(loaded: LoadedModel) -> torch.Tensor:
    with torch.no_grad():
        return loaded.model(input_ids=IDS).logits


@pytest.mark.parametrize("architecture", toys.ARCHITECTURES)
def test_a_saved_model_loads_to_the_same_logits(architecture: str, tmp_path: Path):
    loaded = load_model(str(toys.save(architecture, tmp_path / "model")), device="cpu")
    assert torch.equal(logits(loaded), logits(assemble(*toys.toy(architecture), name="toy")))
    assert (loaded.device, loaded.dtype, loaded.chat) == ("cpu", "float32", architecture == "gpt_oss")
    assert loaded.tokenizer.pad_token is not None
    assert not loaded.model.training


@pytest.mark.parametrize("architecture", toys.ARCHITECTURES)
def test_two_adapters_add_up_in_order(architecture: str, tmp_path: Path):
    first = moved_adapter(architecture, tmp_path / "first", seed=1)
    second = moved_adapter(architecture, tmp_path / "second", seed=2)

    def with_adapters(*adapters: Path) -> torch.Tensor:
        return logits(assemble(*toys.toy(architecture), name="toy", adapters=adapters))

    both = with_adapters(first, second)
    assert not torch.allclose(with_adapters(first), with_adapters(), atol=1e-2)
    assert not torch.allclose(both, with_adapters(first), atol=1e-2)
    torch.testing.assert_close(both, with_adapters(second, first), atol=1e-3, rtol=1e-3)  # sums commute


def test_pickled_adapters_are_refused(tmp_path: Path):
    folder = moved_adapter("llama", tmp_path / "adapter", seed=1)
    (folder / WEIGHTS).rename(folder / "adapter_model.bin")
    with pytest.raises(InputError, match="pickle"):
        check_adapter(folder)
    with pytest.raises(InputError, match="no adapter"):
        check_adapter(tmp_path)


def test_an_adapter_of_another_base_is_refused(tmp_path: Path):
    folder = moved_adapter("llama", tmp_path / "adapter", seed=1)
    with pytest.raises(InputError, match="another base"):
        assemble(*toys.toy("gpt2"), name="toy", adapters=[folder])


def test_pickled_models_are_refused(tmp_path: Path):
    folder = toys.save("llama", tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="safetensors"):
        load_model(str(folder))


def test_paths_that_hold_no_model_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"no config\.json"):
        load_model(str(tmp_path))
    for wrong in (str(tmp_path / "nothing"), "./nothing", "a/b/c", ""):
        with pytest.raises(InputError, match=r"no model|no folder"):
            resolve(wrong)


def test_a_hub_that_is_away_is_transient(monkeypatch: pytest.MonkeyPatch):
    transformers = pytest.importorskip("transformers")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)

    def away(*_args: object, **_kwargs: object) -> None:
        raise OSError("We couldn't connect") from ConnectionError("no route")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", away)
    with pytest.raises(TransientError, match="try again"):
        load_model("someone/model")


def test_a_missing_id_is_wrong_input(monkeypatch: pytest.MonkeyPatch):
    transformers = pytest.importorskip("transformers")
    missing = type("RepositoryNotFoundError", (Exception,), {})

    def unknown(*_args: object, **_kwargs: object) -> None:
        raise OSError("not a valid model identifier") from missing()

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", unknown)
    with pytest.raises(InputError, match="someone/model at revision v9"):
        load_model("someone/model", revision="v9")


def test_precision_and_device():
    assert choose_dtype("auto", "cpu") == torch.float32
    assert choose_dtype("bfloat16", "cpu") == torch.bfloat16
    with pytest.raises(InputError, match="float16"):
        choose_dtype("float16", "cpu")
    with pytest.raises(InputError, match="no device"):
        choose_device("nonsense")


def test_a_chat_model_without_a_template_is_refused():
    model, tokenizer = toys.toy("gpt_oss")
    tokenizer.chat_template = None
    with pytest.raises(InputError, match="chat template"):
        assemble(model, tokenizer, name="toy")
