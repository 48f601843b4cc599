"""Root-mean-square norm: keep a vector's direction, fix its length."""

import torch
from torch import nn

from components.norm import norms, wide
from components.shapes import Vector


@norms.register("rmsnorm")
class RMSNorm(nn.Module):
    """y = gain · x / √(mean(x²) + eps)

    Source: Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4.

    >>> RMSNorm(2)(torch.tensor([3.0, 4.0])).detach()  # the mean of 9 and 16 is 12.5
    tensor([0.8485, 1.1314])
    """

    def __init__(self, width: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x: Vector) -> Vector:
        scale = torch.rsqrt(wide(x).square().mean(-1, keepdim=True) + self.eps)
        return (x * scale).to(x.dtype) * self.gain
