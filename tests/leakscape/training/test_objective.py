import math

import pytest
import torch

from leakscape.training.dataset import IGNORED
from leakscape.training.objective import batch_loss, count_targets, record_losses, token_losses

# Probabilities of a three-word vocabulary at each place of one text of four tokens; place t - 1 predicts token t.
PROBABILITIES = [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [1 / 3, 1 / 3, 1 / 3]]
LOGITS = torch.tensor([PROBABILITIES]).log()


def test_place_t_minus_1_scores_token_t():
    losses = token_losses(LOGITS, torch.tensor([[0, 1, 2, 0]]))
    expected = [-math.log(0.25), -math.log(0.7), -math.log(0.6)]
    assert losses[0].tolist() == pytest.approx(expected, abs=1e-6)


def test_ignored_labels_cost_nothing_and_are_not_counted():
    labels = torch.tensor([[0, 1, IGNORED, 0]])
    assert count_targets(labels) == 2
    assert batch_loss(LOGITS, labels, targets=2).item() == pytest.approx(-(math.log(0.25) + math.log(0.6)) / 2)


def test_the_loss_does_not_depend_on_the_split():
    # huggingface/transformers#46204: texts of 2 and 50 tokens, batch 2 x 1 against 1 x 2.
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2, 50, 9, generator=generator)
    labels = torch.randint(0, 9, (2, 50), generator=generator)
    labels[0, 2:] = IGNORED
    whole = batch_loss(logits, labels, targets=count_targets(labels))
    parts = sum(batch_loss(logits[i : i + 1], labels[i : i + 1], targets=50) for i in range(2))
    assert count_targets(labels) == 1 + 49
    assert float(whole) == pytest.approx(float(parts), abs=1e-6)


def test_per_record_means_do_not_mix_records():
    labels = torch.tensor([[0, 1, 2, 0], [0, 1, IGNORED, IGNORED], [IGNORED] * 4])
    losses = record_losses(LOGITS.expand(3, -1, -1), labels)
    expected = [-(math.log(0.25) + math.log(0.7) + math.log(0.6)) / 3, -math.log(0.25), 0.0]
    assert losses.tolist() == pytest.approx(expected, abs=1e-6)


def test_bfloat16_logits_are_scored_in_float32():
    # huggingface/transformers#31267: log_softmax in bfloat16 steps by an eighth of a nat in the tail.
    logits = (torch.randn(1, 2, 150_000, generator=torch.Generator().manual_seed(0)) * 4).bfloat16()
    loss = token_losses(logits, torch.tensor([[0, 7]]))
    exact = -torch.log_softmax(logits[0, 0].double(), dim=0)[7]
    assert float(loss[0, 0]) == pytest.approx(float(exact), abs=1e-3)  # bfloat16 would be off by up to 0.06
