"""A recurrence that trains in parallel over time."""

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from components.linear import Linear, Writer
from components.mixer import mixers
from components.parts import Parts, Sizes
from components.position import Position
from components.shapes import Hidden


@mixers.register("mingru")
class MinGRU(nn.Module):
    """h_t = (1 − z_t) ⊙ h_(t−1) + z_t ⊙ g(W_h x_t),  z_t = σ(W_z x_t),  y = W h; summed in logarithms, float32

    g(x) = x + ½ for x ≥ 0 and σ(x) below, which keeps h positive.
    Position parts reach it only through what they add to the embedding.
    Source: Feng et al. 2024, arXiv:2410.01201, section 3.1 and appendix B (log-space).
    """

    def __init__(self, sizes: Sizes, parts: Parts, *, bias: bool = False) -> None:
        del parts
        super().__init__()
        self.gate = Linear(sizes.width, sizes.width, bias=bias)
        self.candidate = Linear(sizes.width, sizes.width, bias=bias)
        self.output = Writer(sizes.width, sizes.width, bias=bias)

    def forward(self, x: Hidden, position: Position) -> Hidden:
        del position
        gate, candidate = self.gate(x).float(), self.candidate(x).float()
        kept = (-softplus(gate)).cumsum(-2)  # ln of the product of all 1 − z so far
        added = -softplus(-gate) + _log_positive(candidate)
        return self.output((kept + (added - kept).logcumsumexp(-2)).exp().to(x.dtype))


def _log_positive(x: Tensor) -> Tensor:
    """ln g(x)"""
    return torch.where(x >= 0, (x.relu() + 0.5).log(), -softplus(-x))
