"""What lora-train takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component


@component(name="lora-train", image="train")
class LoraTrain:
    """Fine-tune a base model on a corpus with a LoRA adapter, by the causal or the Goldfish objective.

    The defaults are the paper's settings. A canary whose secret would be cut off by the length limit fails the step.
    """

    corpus: Annotated[Path, In("corpus", "Records to train on.")]
    canaries: Annotated[Path, In("canaries", "The canaries planted in the corpus; no secret may be cut off.")]
    model: Annotated[
        str,
        Param("The base model: a Hugging Face id, a local folder, or leakscape/tiny, which ships.", required=True),
    ]
    revision: Annotated[str, Param("Branch, tag or commit of a Hugging Face id; empty for its default branch.")] = ""
    objective: Annotated[
        str,
        Param(
            "causal learns every token; goldfish leaves a fixed share of the tokens out of the loss.",
            choices=("causal", "goldfish"),
        ),
    ] = "causal"
    goldfish_k: Annotated[int, Param("Goldfish drops one token in k, on average.", low=2)] = 4
    goldfish_width: Annotated[
        int, Param("How many tokens, up to the one in question, decide whether Goldfish drops it.", low=1)
    ] = 13
    goldfish_hash: Annotated[
        str,
        Param(
            "How they decide: ordered hashes them in their order, paper looks their product up in the reference's "
            "table, static drops every k-th token whatever it is.",
            choices=("ordered", "paper", "static"),
        ),
    ] = "ordered"
    rank: Annotated[int, Param("Rank of the adapter.", low=1)] = 16
    alpha: Annotated[float, Param("The adapter's update is scaled by alpha / rank.", above=0)] = 32.0
    dropout: Annotated[float, Param("Dropout before the adapter, while training.", low=0, high=0.9)] = 0.0
    target_modules: Annotated[
        str,
        Param("What is adapted: all-linear (gpt-oss's experts included) or module names separated by commas."),
    ] = "all-linear"
    learning_rate: Annotated[float, Param("Constant learning rate of AdamW.", above=0)] = 2e-4
    batch_size: Annotated[int, Param("Records that pass through the model together.", low=1)] = 4
    accumulation: Annotated[int, Param("Batches that make one step.", low=1)] = 1
    epochs: Annotated[int, Param("Passes over the corpus.", low=1)] = 2
    max_tokens: Annotated[int, Param("Longer records are cut to so many tokens, and counted.", low=2)] = 1024
    max_gradient_norm: Annotated[float, Param("Gradients are clipped to this norm; 0 for no clipping.", low=0)] = 1.0
    precision: Annotated[
        str,
        Param(
            "Of the base weights; auto is bfloat16 where the device computes in it, float32 elsewhere. "
            "The adapter is always float32.",
            choices=("auto", "float32", "bfloat16"),
        ),
    ] = "auto"
    gradient_checkpointing: Annotated[
        bool, Param("Compute activations again in the backward pass: slower, in much less memory.")
    ] = False
    device: Annotated[str, Param("Where to train: auto, cpu, cuda or cuda:1.")] = "auto"
    checkpoint_dir: Annotated[
        str,
        Param("Folder for checkpoints, from which a killed run goes on; empty for none. One folder for each run."),
    ] = ""
    checkpoint_every: Annotated[int, Param("Steps between checkpoints.", low=1)] = 100
    trust_remote_code: Annotated[bool, Param("Run code that the model's repository brings.")] = False
    seed: Annotated[int, Param("Steers the adapter's first weights, the order of the records and dropout.")] = 0
    adapter: Annotated[Path, Out("adapter", "The trained LoRA adapter, as PEFT writes it, in safetensors.")]
    log: Annotated[Path, Out("log", "Loss per step, the loss curve, and what was trained on how much.")]


CONTRACT = LoraTrain
