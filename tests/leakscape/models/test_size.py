from pathlib import Path

import pytest

from leakscape.models.size import Size, size_of

TINY = 128  # hidden size; 384 feed-forward, 4 layers, 4 heads and 2 key-value heads of 32, 1,536 words, tied


def test_the_tiny_model_s_parameters_by_hand():
    attention = 2 * TINY * TINY + 2 * TINY * 64
    layer = attention + 3 * TINY * 384 + 2 * TINY
    found = size_of("leakscape/tiny", ["Patient: A B"])
    assert found is not None
    assert found.parameters == 1536 * TINY + 4 * layer + TINY


def test_characters_per_token_are_counted_by_the_model_s_tokenizer():
    pytest.importorskip("tokenizers")
    found = size_of("leakscape/tiny", ["Patient"])
    assert found is not None
    assert found.characters_per_token is not None
    assert 1 <= found.characters_per_token <= 7


def test_models_that_are_elsewhere_have_no_size():
    assert size_of("Qwen/Qwen3.5-4B-Base", ["a"]) is None
    assert size_of("no model at all", ["a"]) is None


@pytest.mark.parametrize("payload", [b"", b"\x05\x00\x00\x00\x00\x00\x00\x00[1,2]", b"version https://git-lfs"])
def test_files_that_are_no_weights_give_no_number(tmp_path: Path, payload: bytes):
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(payload)
    assert size_of(str(tmp_path), ["a"]) == Size(None, None)
