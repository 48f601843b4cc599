"""Linear attention: a kernel in place of the softmax."""

import torch
from torch import nn
from torch.nn.functional import elu

from components.attention import attentions
from components.mask import seen
from components.shapes import Bias, Heads, Weights


@attentions.register("linear")
class Linear(nn.Module):
    """φ(q) φ(k)ᵀ v over its row sums, φ = elu + 1; computed as a table, so that it combines with every mask and bias

    Source: Katharopoulos et al. 2020, arXiv:2006.16236, eq. 5 and 7.
    """

    def weights(self, q: Heads, k: Heads, bias: Bias | None) -> Weights:
        """exp(bias) φ(q) φ(k)ᵀ over its row sums, zero in rows that see no key"""
        bias = seen(q, k, bias)
        kernel = ((elu(q) + 1) @ (elu(k) + 1).transpose(-2, -1)) * bias.exp()
        total = kernel.sum(-1, keepdim=True)
        return torch.where(total > 0, kernel / total.clamp_min(torch.finfo(q.dtype).tiny), 0.0)

    def forward(self, q: Heads, k: Heads, v: Heads, bias: Bias | None) -> Heads:
        return self.weights(q, k, bias) @ v
