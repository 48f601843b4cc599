"""Softmax attention: keys compete for each query."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from components.attention import attentions
from components.mask import seen
from components.shapes import Bias, Heads, Weights


@attentions.register("softmax")
class Softmax(nn.Module):
    """softmax(q kᵀ + bias) v, shares dropped while training where `dropout` says so

    Source: Vaswani et al. 2017, arXiv:1706.03762, eq. 1.

    >>> q, k = torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 2, 4)
    >>> Softmax().weights(q, k, None)  # nothing to choose by: equal shares of what may be seen
    tensor([[[[1.0000, 0.0000],
              [0.5000, 0.5000]]]])
    """

    def __init__(self, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout

    def weights(self, q: Heads, k: Heads, bias: Bias | None) -> Weights:
        """softmax(q kᵀ + bias), zero in rows that see no key."""
        scores = q @ k.transpose(-2, -1) + seen(q, k, bias)
        return scores.softmax(-1).masked_fill(scores == -torch.inf, 0.0)

    def forward(self, q: Heads, k: Heads, v: Heads, bias: Bias | None) -> Heads:
        dropped = self.dropout if self.training else 0.0
        plain = bias is None and q.shape[-2] == k.shape[-2]  # torch's is_causal takes the queries for the first of keys
        bias = None if plain else seen(q, k, bias)
        return scaled_dot_product_attention(q, k, v, bias, dropped, is_causal=plain, scale=1.0)
