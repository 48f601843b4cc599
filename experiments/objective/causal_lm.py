"""Predict each token from those before it."""

from torch.nn.functional import cross_entropy

from components.shapes import Logits, Losses, Tokens
from experiments.data import IGNORED
from experiments.objective import objectives


@objectives.register("causal_lm")
class CausalLM:
    """−log softmax(logits)[target], in float32

    Source: Radford et al. 2018 (GPT), eq. 1.
    """

    def __call__(self, logits: Logits, targets: Tokens) -> Losses:
        losses = cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=IGNORED, reduction="none")
        return losses.view_as(targets)
