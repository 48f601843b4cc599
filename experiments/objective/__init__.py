"""Objectives pose a batch as a task, and score logits against its targets."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from components.registry import Registry
from components.shapes import Logits, Losses, Tokens
from experiments.data import IGNORED, Batch


class Objective:
    """Scores are nats for each token, 0 where the target is ignored; what is minimised is their mean plus a penalty.

    `extra_tokens` counts the tokens that the task adds to the data's vocabulary.
    """

    extra_tokens: int = 0
    z_loss: float = 0.0

    def __init__(self) -> None:
        """Nothing to prepare."""

    def pose(self, batch: Batch, vocabulary: int, generator: torch.Generator) -> Batch:
        """The batch as the model sees it and is scored on it; `vocabulary` is the data's."""
        del vocabulary, generator
        return batch

    def __call__(self, logits: Logits, targets: Tokens) -> Losses:
        """−log softmax(logits)[target] in float32."""
        losses = cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=IGNORED, reduction="none")
        return losses.view_as(targets)

    def penalty(self, logits: Logits, targets: Tokens, scored: Tensor) -> Tensor:
        """z_loss · Σ log² Z / scored over scored tokens, Z the softmax's denominator; scored as in `Batch`.

        Source: Chowdhery et al. 2022, arXiv:2204.02311, section 5.
        """
        return self.z_loss * logits.float().logsumexp(-1)[targets != IGNORED].square().sum() / scored


objectives: Registry[Objective] = Registry(Objective)
