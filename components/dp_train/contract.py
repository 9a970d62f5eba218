"""What dp-train takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component


@component(name="dp-train", image="train")
class DpTrain:
    """Fine-tune a base model on a corpus with a LoRA adapter under differential privacy (DP-SGD).

    The defaults are the paper's settings: epsilon 8 at delta 1e-5, gradients clipped to 1, Poisson lots of 512.
    """

    corpus: Annotated[Path, In("corpus", "Records to train on.")]
    canaries: Annotated[Path, In("canaries", "The canaries planted in the corpus; no secret may be cut off.")]
    model: Annotated[
        str,
        Param("The base model: a Hugging Face id, a local folder, or leakscape/tiny, which ships.", required=True),
    ]
    revision: Annotated[str, Param("Branch, tag or commit of a Hugging Face id; empty for its default branch.")] = ""
    epsilon: Annotated[float, Param("The privacy budget; the noise is the least that keeps within it.", above=0)] = 8.0
    delta: Annotated[
        float, Param("The chance that the budget may not hold; well below one over the number of units.", above=0)
    ] = 1e-5
    clip: Annotated[float, Param("The gradient of each privacy unit is clipped to this norm.", above=0)] = 1.0
    lot: Annotated[
        float,
        Param("How many privacy units a step draws on average; what was drawn is divided by this number.", above=0),
    ] = 512.0
    unit: Annotated[
        str,
        Param(
            "What the budget protects: record protects each record, and each copy of one, on its own; person protects "
            "all records of a person together.",
            choices=("record", "person"),
        ),
    ] = "record"
    control: Annotated[
        bool,
        Param("Same lots, steps and clipping without noise: shows what the noise adds, and gives no privacy."),
    ] = False
    epochs: Annotated[int, Param("Passes over the corpus, on average.", low=1)] = 2
    learning_rate: Annotated[float, Param("Constant learning rate of AdamW.", above=0)] = 2e-4
    rank: Annotated[int, Param("Rank of the adapter.", low=1)] = 16
    alpha: Annotated[float, Param("The adapter's update is scaled by alpha / rank.", above=0)] = 32.0
    dropout: Annotated[float, Param("Dropout before the adapter, while training.", low=0, high=0.9)] = 0.0
    target_modules: Annotated[
        str,
        Param(
            "What is adapted: all-linear or module names separated by commas. The experts of gpt-oss stay as they "
            "are: there is no gradient of one record for them."
        ),
    ] = "all-linear"
    micro_batch: Annotated[
        int, Param("Records that pass through the model together; changes memory and time, not the result.", low=1)
    ] = 8
    max_tokens: Annotated[int, Param("Longer records are cut to so many tokens, and counted.", low=2)] = 1024
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
    checkpoint_every: Annotated[int, Param("Steps between checkpoints.", low=1)] = 1
    trust_remote_code: Annotated[bool, Param("Run code that the model's repository brings.")] = False
    seed: Annotated[
        int, Param("Steers the adapter's first weights, the lots, the noise and dropout; who knows it knows the noise.")
    ] = 0
    adapter: Annotated[Path, Out("adapter", "The trained LoRA adapter, as PEFT writes it, in safetensors.")]
    log: Annotated[Path, Out("log", "The privacy spent and by which accountant, the lots drawn, and loss per step.")]


CONTRACT = DpTrain
