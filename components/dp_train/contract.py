"""What dp-train takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component
from leakscape.models import parameters as models
from leakscape.training import parameters as training


@component(name="dp-train", image="train")
class DpTrain:
    """Fine-tune a base model on a corpus with a LoRA adapter under differential privacy (DP-SGD).

    The defaults are the paper's settings: epsilon 8 at delta 1e-5, gradients clipped to 1, Poisson lots of 512.
    """

    corpus: Annotated[Path, In("corpus", "Records to train on.")]
    canaries: Annotated[Path, In("canaries", "The canaries planted in the corpus; no secret may be cut off.")]
    model: models.Model
    revision: models.Revision = ""
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
    noise_from: Annotated[
        str,
        Param(
            "Where noise and lots come from: seed, so that the run can be repeated and whoever knows the seed can take "
            "the noise away; or system, the machine's entropy, for a model that will be released.",
            choices=("seed", "system"),
        ),
    ] = "seed"
    epochs: Annotated[int, Param("Passes over the corpus, on average.", low=1)] = 2
    learning_rate: training.LearningRate = 2e-4
    rank: training.Rank = 16
    alpha: training.Alpha = 32.0
    dropout: training.Dropout = 0.0
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
    max_tokens: training.MaxTokens = 1024
    precision: training.Precision = "auto"
    gradient_checkpointing: training.GradientCheckpointing = False
    device: training.Device = "auto"
    checkpoint_dir: training.CheckpointDir = ""
    checkpoint_every: training.CheckpointEvery = 1
    trust_remote_code: models.TrustRemoteCode = False
    seed: Annotated[
        int, Param("Steers the adapter's first weights, dropout and, unless they come from the system, lots and noise.")
    ] = 0
    adapter: Annotated[Path, Out("adapter", "The trained LoRA adapter, as PEFT writes it, in safetensors.")]
    log: Annotated[Path, Out("log", "The privacy spent and by which accountant, the lots drawn, and loss per step.")]


CONTRACT = DpTrain
