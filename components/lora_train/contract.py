"""What lora-train takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component
from leakscape.models import parameters as models
from leakscape.training import parameters as training


@component(name="lora-train", image="train")
class LoraTrain:
    """Fine-tune a base model on a corpus with a LoRA adapter, by the causal or the Goldfish objective.

    The defaults are the paper's settings. A canary whose secret would be cut off by the length limit fails the step.
    """

    corpus: Annotated[Path, In("corpus", "Records to train on.")]
    canaries: Annotated[Path, In("canaries", "The canaries planted in the corpus; no secret may be cut off.")]
    model: models.Model
    revision: models.Revision = ""
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
    rank: training.Rank = 16
    alpha: training.Alpha = 32.0
    dropout: training.Dropout = 0.0
    target_modules: Annotated[
        str,
        Param("What is adapted: all-linear (gpt-oss's experts included) or module names separated by commas."),
    ] = "all-linear"
    learning_rate: training.LearningRate = 2e-4
    batch_size: Annotated[int, Param("Records that pass through the model together.", low=1)] = 4
    accumulation: Annotated[int, Param("Batches that make one step, in each process.", low=1)] = 1
    processes: Annotated[
        int,
        Param(
            "Processes on this machine that share each step, each on an accelerator of its own: 1 for this one alone, "
            "0 for one on each visible accelerator. A step holds batch size x accumulation x processes records.",
            low=0,
        ),
    ] = 1
    sharding: Annotated[
        str,
        Param(
            "What each process holds of the base: none is all of it; fsdp is a part of every layer, gathered when "
            "needed, for a base that one accelerator does not hold.",
            choices=("none", "fsdp"),
        ),
    ] = "none"
    epochs: Annotated[int, Param("Passes over the corpus.", low=1)] = 2
    max_tokens: training.MaxTokens = 1024
    max_gradient_norm: Annotated[float, Param("Gradients are clipped to this norm; 0 for no clipping.", low=0)] = 1.0
    precision: training.Precision = "auto"
    gradient_checkpointing: training.GradientCheckpointing = False
    device: training.Device = "auto"
    checkpoint_dir: training.CheckpointDir = ""
    checkpoint_every: training.CheckpointEvery = 100
    trust_remote_code: models.TrustRemoteCode = False
    seed: Annotated[int, Param("Steers the adapter's first weights, the order of the records and dropout.")] = 0
    adapter: Annotated[Path, Out("adapter", "The trained LoRA adapter, as PEFT writes it, in safetensors.")]
    log: Annotated[Path, Out("log", "Loss per step, the loss curve, and what was trained on how much.")]


CONTRACT = LoraTrain
