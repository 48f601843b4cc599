"""Nearer keys count more, by a slope of each head's own."""

import torch

from components.parts import Sizes
from components.position import Position, positions
from components.shapes import Bias


@positions.register("alibi")
class ALiBi(Position):
    """bias_(h,t,s) = −m_h · |t − s|, m_h = 2^(−steepest · n_h / P), P the least power of two ≥ H, n_h = 1 … H if P = H

    Otherwise n_h = 2, 4, …, P and then 1, 3, …, cut at H: the even ones are the slopes of P/2 heads. This is what the
    released models (BLOOM, MPT) compute. The paper's text gives 2^(−8 · n / H) for every H, which is the same only
    where H is a power of two.
    Source: Press et al. 2021, arXiv:2108.12409, section 3, with the released code for other numbers of heads.

    >>> ALiBi(Sizes(vocabulary=2, context=2, width=3, depth=1, heads=3)).slopes()  # those of 2, then of 4
    tensor([0.0625, 0.0039, 0.2500])
    """

    def __init__(self, sizes: Sizes, *, steepest: float = 8.0) -> None:
        super().__init__(sizes)
        self.steepest = steepest

    def bias(self, length: int, device: torch.device) -> Bias:
        """−m_h · |t − s|"""
        places = torch.arange(length, device=device)
        return -self.slopes(device)[None, :, None, None] * (places[:, None] - places).abs()

    def slopes(self, device: torch.device | str = "cpu") -> torch.Tensor:
        """m_h of each head, H of them."""
        power = 2 ** (self.sizes.heads - 1).bit_length()
        exponents = torch.arange(1, power + 1, device=device)
        if power > self.sizes.heads:
            exponents = torch.cat([exponents[1::2], exponents[::2]])[: self.sizes.heads]
        return 2.0 ** (-self.steepest * exponents / power)
