"""Rotate queries and keys, so that q·k depends on their distance alone."""

import torch

from components.parts import Sizes
from components.position import Position, positions
from components.position.sinusoidal import phases
from components.shapes import Heads


@positions.register("rope")
class RoPE(Position):
    """Turns each pair (x_i, x_(i+K/2)) of q and k at position t by the angle t · base^(−2i/K)

    Raises ValueError if the head width is odd.
    Source: Su et al. 2021, arXiv:2104.09864, eq. 15 and 34; pairs are halves apart, as in GPT-NeoX and LLaMA's ports.
    """

    def __init__(self, sizes: Sizes, *, base: float = 10_000.0) -> None:
        super().__init__(sizes)
        if sizes.head_width % 2:
            raise ValueError(
                f"position=rope turns pairs, so the head width must be even: it is {sizes.head_width} "
                f"(width {sizes.width} / heads {sizes.heads})"
            )
        self.base = base

    def rotate(self, x: Heads) -> Heads:
        """The pairs of x, turned; float32 angles, x's own type out."""
        angles = phases(x.shape[-2], x.shape[-1], self.base, x.device)
        cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
