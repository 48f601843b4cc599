"""Fixed waves of geometrically spaced lengths."""

import torch
from torch import Tensor

from components.parts import Sizes
from components.position import Position, positions
from components.shapes import Hidden


@positions.register("sinusoidal")
class Sinusoidal(Position):
    """x_t + PE_t,  PE_(t,2i) = sin(t · base^(−2i/D)),  PE_(t,2i+1) = cos(t · base^(−2i/D))

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
    """

    def __init__(self, sizes: Sizes, *, base: float = 10_000.0) -> None:
        super().__init__(sizes)
        self.base = base

    def embed(self, x: Hidden) -> Hidden:
        """x_t + PE_t"""
        return x + waves(x.shape[-2], x.shape[-1], self.base, x.device).to(x.dtype)


def waves(length: int, width: int, base: float, device: torch.device | str = "cpu") -> Tensor:
    """The table PE, T by D, in float32; an odd width ends in a sine.

    >>> waves(2, 4, 10_000.0)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    angles = phases(length, width, base, device)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :width]


def phases(length: int, width: int, base: float, device: torch.device | str = "cpu") -> Tensor:
    """t · base^(−2i/width) for t < length and i < ⌈width/2⌉, as a table, in float32: less blurs late positions."""
    frequencies = base ** (-torch.arange(0, width, 2, device=device, dtype=torch.float32) / width)
    return torch.arange(length, device=device, dtype=torch.float32)[:, None] * frequencies
