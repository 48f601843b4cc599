"""ReLU attention: no exponentials and no competition."""

import torch
from torch import nn

from components.attention import attentions
from components.mask import seen
from components.shapes import Bias, Heads, Weights


@attentions.register("relu")
class ReLU(nn.Module):
    """relu(q kᵀ + bias) v / n, n the number of keys that a query sees

    Source: Wortsman et al. 2023, arXiv:2309.08586, section 3 (division by sequence length).
    """

    def weights(self, q: Heads, k: Heads, bias: Bias | None) -> Weights:
        """relu(q kᵀ + bias) / n"""
        bias = seen(q, k, bias)
        keys = (bias > -torch.inf).sum(-1, keepdim=True).clamp_min(1)
        return (q @ k.transpose(-2, -1) + bias).relu() / keys.to(q.dtype)

    def forward(self, q: Heads, k: Heads, v: Heads, bias: Bias | None) -> Heads:
        return self.weights(q, k, bias) @ v
