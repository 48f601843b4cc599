"""Scale norm: fix a vector's length, with one gain for all of it."""

import torch
from torch import nn

from components.norm import norms, wide
from components.shapes import Vector


@norms.register("scalenorm")
class ScaleNorm(nn.Module):
    """y = gain · x / max(‖x‖, eps), gain one learned number, √W at first

    Source: Nguyen & Salazar 2019, arXiv:1910.05895, section 2.2.

    >>> ScaleNorm(4)(torch.tensor([3.0, 0.0, 4.0, 0.0])).detach()  # length 5 becomes length √4
    tensor([1.2000, 0.0000, 1.6000, 0.0000])
    """

    def __init__(self, width: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.tensor(width**0.5))

    def forward(self, x: Vector) -> Vector:
        length = wide(x).norm(dim=-1, keepdim=True).clamp_min(self.eps)
        return (self.gain * x / length).to(x.dtype)
