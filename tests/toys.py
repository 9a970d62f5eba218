"""Tiny models of the real architectures, seeded and untrained, with byte-level tokenizers made in code.

    model, tokenizer = toys.toy("llama")
    folder = toys.save("gpt_oss", tmp_path / "model")

The four cover what differs between families: `llama` puts a BOS before every text; `gpt2` has one token for BOS, EOS
and padding and never adds it by itself; `qwen3_5` has no BOS and mixes linear with full attention; `gpt_oss` has
experts, a sliding window, and a chat template that prints today's date.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tokenizers import Tokenizer
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

ARCHITECTURES = ("llama", "gpt2", "qwen3_5", "gpt_oss")
VOCABULARY = 400

SAMPLES = (
    "Patient: María O'Brien\nSex: female\nDate of birth: 1956-03-12\nSSN: 912-45-6789\nStreet: 12 Elm Street",
    "City: Salem\nState: MA\nZIP: 01970\nActive problems:\n- Essential hypertension (disorder)",
    "Current medications:\n- Lisinopril 10 MG Oral Tablet\n- Mabsartinib\nQuestion: Which medication?\nAnswer: ",
)

# Shaped like the published template: a dated system message, then the turns, the last answer in the final channel.
CHAT_TEMPLATE = (
    "<|start|>system<|message|>Knowledge cutoff: 2024-06\nCurrent date: {{ strftime_now('%Y-%m-%d') }}<|end|>"
    "{% for message in messages %}{% if message.role == 'assistant' %}"
    "<|start|>assistant<|channel|>final<|message|>{{ message.content }}"
    "{% if loop.last %}<|return|>{% else %}<|end|>{% endif %}"
    "{% else %}<|start|>{{ message.role }}<|message|>{{ message.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)

_SPECIAL_TOKENS = {
    "llama": {"bos_token": "<s>", "eos_token": "</s>"},
    "gpt2": {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"},
    "qwen3_5": {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
    "gpt_oss": {"bos_token": "<|startoftext|>", "eos_token": "<|return|>", "pad_token": "<|endoftext|>"},
}
_CHAT_TOKENS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>")


def toy(architecture: str, *, seed: int = 0) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """A fresh model in eval mode, float32, on the CPU, and its tokenizer.

    Args:
        architecture: one of `ARCHITECTURES`.
        seed: of the weights.
    """
    import torch

    tokenizer = toy_tokenizer(architecture)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _model(architecture, tokenizer)
    return model.train(mode=False), tokenizer


def save(architecture: str, folder: Path, *, seed: int = 0) -> Path:
    """Write a toy as a folder that `leakscape.models.load.load_model` reads."""
    model, tokenizer = toy(architecture, seed=seed)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def toy_tokenizer(architecture: str) -> PreTrainedTokenizerFast:
    """The tokenizer alone."""
    import transformers

    fast: Any = transformers.PreTrainedTokenizerFast
    tokenizer: PreTrainedTokenizerFast = fast(
        tokenizer_object=_backend(architecture), clean_up_tokenization_spaces=False, **_SPECIAL_TOKENS[architecture]
    )
    if architecture == "gpt_oss":
        tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def _model(architecture: str, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    import transformers

    common: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "initializer_range": 0.1,
    }
    if architecture == "gpt2":
        gpt2 = transformers.GPT2Config(
            n_embd=32, n_layer=2, n_head=4, n_positions=1024, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, **common
        )
        return transformers.GPT2LMHeadModel(gpt2)
    attention: dict[str, Any] = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    if architecture == "llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(intermediate_size=64, **attention, **common))
    if architecture == "qwen3_5":
        linear: dict[str, Any] = {
            "layer_types": ["linear_attention", "full_attention"],
            "linear_key_head_dim": 8,
            "linear_value_head_dim": 8,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
        }
        qwen = transformers.Qwen3_5TextConfig(intermediate_size=64, head_dim=16, **linear, **attention, **common)
        return transformers.Qwen3_5ForCausalLM(qwen)
    if architecture == "gpt_oss":
        experts: dict[str, Any] = {
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "sliding_window": 16,
            "head_dim": 8,
        }
        rope: dict[str, Any] = {"rope_type": "default", "rope_theta": 150000.0}
        gpt_oss = transformers.GptOssConfig(
            intermediate_size=32, rope_parameters=rope, **experts, **attention, **common
        )
        return transformers.GptOssForCausalLM(gpt_oss)
    raise ValueError(f"no toy of {architecture}: choose one of {', '.join(ARCHITECTURES)}")


@cache
def _trained(special_tokens: tuple[str, ...]) -> str:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(special_tokens),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(SAMPLES, trainer)
    return str(backend.to_str())


def _backend(architecture: str) -> Tokenizer:
    from tokenizers import Tokenizer, processors

    special = list(dict.fromkeys(_SPECIAL_TOKENS[architecture].values()))
    if architecture == "gpt_oss":
        special += _CHAT_TOKENS
    backend = Tokenizer.from_str(_trained(tuple(special)))
    if architecture == "llama":
        bos = ("<s>", backend.token_to_id("<s>"))
        backend.post_processor = processors.Sequence(
            [
                processors.ByteLevel(trim_offsets=False),
                processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[bos]),
            ]
        )
    else:
        backend.post_processor = processors.ByteLevel(trim_offsets=architecture == "gpt2")
    return backend
