"""Dynamic tanh: squash instead of normalise."""

import torch
from torch import nn

from components.norm import norms
from components.shapes import Vector


@norms.register("dyt")
class DyT(nn.Module):
    """y = gain ⊙ tanh(alpha · x) + bias, alpha one learned number; no statistics

    Source: Zhu et al. 2025, arXiv:2503.10622, eq. 1 and section 4.
    """

    def __init__(self, width: int, *, alpha: float = 0.5) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.tensor(alpha))
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Vector) -> Vector:
        return self.gain * (self.alpha * x).tanh() + self.bias
