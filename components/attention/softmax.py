"""Softmax attention: keys compete for each query."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from components.attention import attentions
from components.mask import additive, causal
from components.shapes import Bias, Heads, Weights


@attentions.register("softmax")
class Softmax(nn.Module):
    """softmax(q kᵀ + bias) v

    Source: Vaswani et al. 2017, arXiv:1706.03762, eq. 1.

    >>> q, k = torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 2, 4)
    >>> Softmax().weights(q, k, None)  # nothing to choose by: equal shares of what may be seen
    tensor([[[[1.0000, 0.0000],
              [0.5000, 0.5000]]]])
    """

    def weights(self, q: Heads, k: Heads, bias: Bias | None) -> Weights:
        """softmax(q kᵀ + bias), zero in rows that see no key."""
        seen = additive(causal(q.shape[-2], k.shape[-2], q.device), q.dtype) if bias is None else bias
        scores = q @ k.transpose(-2, -1) + seen
        return scores.softmax(-1).masked_fill(scores == -torch.inf, 0.0)

    def forward(self, q: Heads, k: Heads, v: Heads, bias: Bias | None) -> Heads:
        return scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=bias is None, scale=1.0)
