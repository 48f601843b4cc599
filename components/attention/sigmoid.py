"""Sigmoid attention: each key is read or not, whatever the others are."""

import torch
from torch import nn

from components.attention import attentions
from components.mask import seen
from components.shapes import Bias, Heads, Weights


@attentions.register("sigmoid")
class Sigmoid(nn.Module):
    """sigmoid(q kᵀ − ln n + bias) v, n the number of keys that a query sees

    Source: Ramapuram et al. 2024, arXiv:2409.04431, section 2 (the bias −ln n).
    """

    def weights(self, q: Heads, k: Heads, bias: Bias | None) -> Weights:
        """sigmoid(q kᵀ − ln n + bias)"""
        bias = seen(q, k, bias)
        keys = (bias > -torch.inf).sum(-1, keepdim=True).clamp_min(1)
        return (q @ k.transpose(-2, -1) - keys.log() + bias).sigmoid().to(q.dtype)

    def forward(self, q: Heads, k: Heads, v: Heads, bias: Bias | None) -> Heads:
        return self.weights(q, k, bias) @ v
