"""Parameters that every LoRA trainer has, stated once; the defaults are each contract's own."""

from typing import Annotated

from leakscape.contract import Param

LearningRate = Annotated[float, Param("Constant learning rate of AdamW.", above=0)]
Rank = Annotated[int, Param("Rank of the adapter.", low=1)]
Alpha = Annotated[float, Param("The adapter's update is scaled by alpha / rank.", above=0)]
Dropout = Annotated[float, Param("Dropout before the adapter, while training.", low=0, high=0.9)]
MaxTokens = Annotated[int, Param("Longer records are cut to so many tokens, and counted.", low=2)]
Precision = Annotated[
    str,
    Param(
        "Of the base weights; auto is bfloat16 where the device computes in it, float32 elsewhere. "
        "The adapter is always float32.",
        choices=("auto", "float32", "bfloat16"),
    ),
]
GradientCheckpointing = Annotated[
    bool, Param("Compute activations again in the backward pass: slower, in much less memory.")
]
Device = Annotated[str, Param("Where to train: auto, cpu, cuda or cuda:1.")]
CheckpointDir = Annotated[
    str,
    Param(
        "A folder or s3://bucket/prefix for checkpoints, from which a killed run goes on; empty for none. Runs may "
        "share one.",
        operational=True,
    ),
]
CheckpointEvery = Annotated[int, Param("Steps between checkpoints.", low=1, operational=True)]
