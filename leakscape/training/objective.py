"""The loss: negative log-likelihood of the shifted labels, in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leakscape.training.dataset import IGNORED

if TYPE_CHECKING:
    import torch


def token_losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The loss of every token, in nats; 0 where the label is ignored.

    Args:
        logits: (B, T, V); `logits[:, t - 1]` scores token t.
        labels: (B, T), `IGNORED` where a token takes no part.

    Returns:
        (B, T - 1), float32: bfloat16 would step by an eighth of a nat.
    """
    import torch

    scores = logits[:, :-1].float().transpose(1, 2)
    return torch.nn.functional.cross_entropy(scores, labels[:, 1:], ignore_index=IGNORED, reduction="none")


def count_targets(labels: torch.Tensor) -> int:
    """How many shifted labels take part in the loss."""
    return int((labels[:, 1:] != IGNORED).sum())


def batch_loss(logits: torch.Tensor, labels: torch.Tensor, *, targets: int) -> torch.Tensor:
    """The sum of the token losses over the targets of the EFFECTIVE batch, of which these may be a part.

    Summed over its parts this is the token mean, however the batch was split.
    """
    return token_losses(logits, labels).sum() / targets


def record_losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The token mean of each record on its own, (B,): what per-record clipping needs.

    A record without a target (Goldfish may drop a short one whole) has loss 0.
    """
    counts = (labels[:, 1:] != IGNORED).sum(dim=1).clamp(min=1)
    return token_losses(logits, labels).sum(dim=1) / counts
